package syntax

import "strings"

// sources reads the entries of FROM.
func (p *parser) sources() []Source {
	var list []Source
	if !p.push(2) {
		return nil
	}
	defer p.pop(2)
	join := Join(0)
	for {
		s := Source{Join: join}
		p.source(&s, len(list) == 0)
		list = append(list, s)
		if join = p.join(); join == 0 {
			return list
		}
	}
}

// source reads one entry of FROM.
func (p *parser) source(s *Source, first bool) {
	start := p.tok.start
	if p.at(tokLeft) {
		p.group(s)
		s.Alias = p.alias()
	} else {
		s.Name = p.qualified()
		if p.at(tokLeft) {
			s.Function = true
			p.advance()
			s.Arguments = p.arguments()
			p.expect(tokRightParen)
			s.Alias = p.alias()
		} else {
			s.Alias = p.alias()
			s.IndexedBy, s.NotIndexed = p.indexed()
		}
	}
	clause := ""
	switch {
	case p.accept(kwOn):
		s.On, clause = p.right(levelOr, 5), "ON"
	case p.accept(kwUsing):
		clause = "USING"
		p.expect(tokLeft)
		s.Using = p.nameList()
		p.expect(tokRightParen)
	}
	if first && clause != "" {
		p.raise("a JOIN clause is required before "+clause, -1)
	}
	s.Span = p.from(start)
}

// arguments reads the arguments of a table-valued function, perhaps none.
func (p *parser) arguments() []*Expr {
	if p.at(tokRightParen) {
		return nil
	}
	return p.exprs1()
}

// group reads a query or other sources in parentheses.
func (p *parser) group(s *Source) {
	p.advance()
	if p.tok.kind.startsSelect() {
		s.Query = p.query()
	} else {
		s.Nested = p.sources()
	}
	p.expect(tokRightParen)
}

// indexed reads INDEXED BY or NOT INDEXED, if it is there.
func (p *parser) indexed() (by Name, not bool) {
	if p.acceptBoth(kwIndexed, kwBy) {
		return p.name(), false
	}
	return Name{}, p.acceptBoth(kwNot, kwIndexed)
}

// joins lists the words of a join that SQLite knows.
var joins = map[string]Join{
	"natural": JoinNatural,
	"left":    JoinLeft | JoinOuter,
	"outer":   JoinOuter,
	"right":   JoinRight | JoinOuter,
	"full":    JoinLeft | JoinRight | JoinOuter,
	"inner":   JoinInner,
	"cross":   JoinInner | JoinCross,
}

// join reads the operator between two sources, 0 if there is none. It takes words that are no join,
// as the grammar does, and refuses them as a whole.
func (p *parser) join() Join {
	switch {
	case p.accept(tokComma):
		return JoinComma
	case p.accept(kwJoin):
		return JoinInner
	case !p.at(kwSide):
		return 0
	}
	first, all, known := p.tok, []string{}, true
	j := Join(0)
	for len(all) < 3 && !p.at(kwJoin) {
		if !p.tok.kind.isName() {
			p.unexpected()
			return 0
		}
		word := p.text(p.tok)
		k, ok := joins[fold(word)]
		j, known = j|k, known && ok
		all = append(all, word)
		p.advance()
	}
	p.expect(kwJoin)
	if !known || j&JoinInner != 0 && j&JoinOuter != 0 || j&(JoinOuter|JoinLeft|JoinRight) == JoinOuter {
		p.raise("unknown join type: "+strings.Join(all, " "), first.start)
		return JoinInner
	}
	return j
}

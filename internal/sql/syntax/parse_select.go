package syntax

// query reads a SELECT or VALUES with its WITH.
func (p *parser) query() *Select {
	start := p.tok.start
	with := p.with()
	return p.selectAfter(with, start)
}

// with reads a WITH, if there is one.
func (p *parser) with() *With {
	start := p.tok.start
	if !p.accept(kwWith) {
		return nil
	}
	w, names := &With{Recursive: p.accept(kwRecursive)}, make(map[string]bool)
	for {
		t := p.commonTable()
		if name := fold(t.Name.Text); names[name] {
			p.raise("duplicate WITH table name: "+t.Name.Text, -1)
		} else {
			names[name] = true
		}
		w.Tables = append(w.Tables, t)
		if !p.accept(tokComma) {
			break
		}
	}
	w.Span = p.from(start)
	return w
}

func (p *parser) commonTable() CommonTable {
	start := p.tok.start
	t := CommonTable{Name: p.name(), Columns: p.nameTerms()}
	p.expect(kwAs)
	switch {
	case p.accept(kwMaterialized):
		t.Materialized = MaterializedYes
	case p.acceptBoth(kwNot, kwMaterialized):
		t.Materialized = MaterializedNot
	}
	p.expect(tokLeft)
	if p.push(5) {
		t.Query = p.query()
		p.pop(5)
	} else {
		t.Query = &Select{}
	}
	p.expect(tokRightParen)
	t.Span = p.from(start)
	return t
}

// A tail is the clauses behind a core that belong to the whole query, if the core is the last.
type tail struct {
	orderBy       []Term
	limit, offset *Expr
}

// selectAfter reads a query behind its WITH.
func (p *parser) selectAfter(with *With, start int) *Select {
	s := &Select{With: with}
	var tails []tail
	for op := CompoundNone; ; {
		core := Core{Compound: op}
		tails = append(tails, p.core(&core))
		s.Cores = append(s.Cores, core)
		if op = p.compound(); op == CompoundNone {
			break
		}
	}
	last := tails[len(tails)-1]
	s.OrderBy, s.Limit, s.Offset = last.orderBy, last.limit, last.offset
	p.checkCompound(s, tails)
	s.setHeight()
	s.Span = p.from(start)
	return s
}

// compound consumes an operator between two cores, if there is one.
func (p *parser) compound() Compound {
	switch {
	case p.accept(kwUnion):
		if p.accept(kwAll) {
			return UnionAll
		}
		return Union
	case p.accept(kwExcept):
		return Except
	case p.accept(kwIntersect):
		return Intersect
	}
	return CompoundNone
}

// checkCompound refuses clauses of the whole in front of an operator, and too many cores.
func (p *parser) checkCompound(s *Select, tails []tail) {
	for i := len(tails) - 2; i >= 0; i-- {
		clause := "ORDER BY"
		if tails[i].orderBy == nil {
			clause = "LIMIT"
		}
		if tails[i].orderBy != nil || tails[i].limit != nil {
			p.raise(clause+" clause should come after "+s.Cores[i+1].Compound.String()+" not before", -1)
			break
		}
	}
	if n := len(s.Cores); n > maxCores && s.Cores[n-1].Values == nil {
		p.raise("too many terms in compound SELECT", -1)
	}
}

// setHeight sets the height of the highest expression in the query.
func (s *Select) setHeight() {
	up := func(more int32, list ...*Expr) {
		for _, e := range list {
			if e != nil {
				s.height = max(s.height, e.height+more)
			}
		}
	}
	up(1, s.Limit, s.Offset)
	for _, t := range s.OrderBy {
		up(0, t.Expr)
	}
	for i := range s.Cores {
		c := &s.Cores[i]
		up(0, c.Where, c.Having)
		up(0, c.GroupBy...)
		for _, row := range c.Values {
			up(0, row...)
		}
		for _, col := range c.Columns {
			up(0, col.Expr)
		}
	}
}

// core reads a SELECT or VALUES.
func (p *parser) core(c *Core) (t tail) {
	start := p.tok.start
	defer func() { c.Span = p.from(start) }()
	if p.accept(kwValues) {
		p.values(c)
		return tail{}
	}
	p.expect(kwSelect)
	switch {
	case p.accept(kwDistinct):
		c.Distinct = true
	case p.accept(kwAll):
		c.All = true
	}
	if !p.push(4) {
		return tail{}
	}
	defer p.pop(4)
	c.Columns = p.columns()
	if p.accept(kwFrom) {
		c.From = p.sources()
	}
	c.Where = p.where()
	if p.acceptBoth(kwGroup, kwBy) {
		c.GroupBy = p.exprs1()
	}
	if p.accept(kwHaving) {
		c.Having = p.expr()
	}
	if p.accept(kwWindow) {
		c.Windows = p.windows()
	}
	if p.acceptBoth(kwOrder, kwBy) && p.push(3) {
		t.orderBy = p.terms()
		p.pop(3)
	}
	if p.accept(kwLimit) {
		t.limit = p.expr()
		if p.accept(kwOffset) {
			t.offset = p.expr()
		} else if p.accept(tokComma) {
			t.limit, t.offset = p.expr(), t.limit
		}
	}
	return t
}

func (p *parser) values(c *Core) {
	if !p.push(2) {
		return
	}
	defer p.pop(2)
	for {
		p.expect(tokLeft)
		c.Values = append(c.Values, p.exprs1())
		p.expect(tokRightParen)
		if !p.accept(tokComma) {
			return
		}
	}
}

func (p *parser) where() *Expr {
	if !p.accept(kwWhere) {
		return nil
	}
	return p.right(levelOr, 1)
}

// columns reads the columns of a result.
func (p *parser) columns() []Column {
	list := []Column{p.column1()}
	for p.accept(tokComma) {
		list = append(list, p.column1())
	}
	return list
}

// column1 reads one of the columns of a result.
func (p *parser) column1() Column {
	start := p.tok.start
	if star := p.star(); star != nil {
		return Column{Span: star.Span, Expr: star}
	}
	c := Column{Expr: p.expr()}
	c.Span = p.from(start)
	c.Alias = p.alias()
	return c
}

// star reads * or table.*, if it is there.
func (p *parser) star() *Expr {
	k := p.tok.kind
	if k == tokStar {
		e := p.node(OpStar, p.tok.start)
		p.advance()
		e.End = p.last.end
		return e
	}
	if !k.isName() || k == kwCast || k == kwRaise || k == kwCurrentTime || p.peek() != tokDot ||
		scan(p.sql, p.peeked.end).kind != tokStar {
		return nil
	}
	e := p.node(OpStar, p.tok.start)
	e.Path = []Name{p.anyName()}
	p.expect(tokDot)
	p.expect(tokStar)
	e.End = p.last.end
	return e
}

// alias reads a name with or without AS, if there is one.
func (p *parser) alias() Name {
	if p.accept(kwAs) {
		return p.name()
	}
	if p.tok.kind.isWord() {
		return p.anyName()
	}
	return Name{}
}

// terms reads the terms of ORDER BY or of an index.
func (p *parser) terms() []Term {
	list := make([]Term, 0, 2)
	for {
		start := p.tok.start
		t := Term{Expr: p.right(levelOr, 2)}
		t.Span, t.Order = p.from(start), p.order()
		if p.accept(kwNulls) {
			switch {
			case p.accept(kwFirst):
				t.Nulls = NullsFirst
			case p.accept(kwLast):
				t.Nulls = NullsLast
			default:
				p.unexpected()
			}
		}
		list = append(list, t)
		if !p.accept(tokComma) {
			return list
		}
	}
}

func (p *parser) windows() []*Window {
	var list []*Window
	for {
		start := p.tok.start
		w := &Window{Name: p.name()}
		p.expect(kwAs)
		p.expect(tokLeft)
		p.window(w)
		p.expect(tokRightParen)
		w.Span = p.from(start)
		list = append(list, w)
		if !p.accept(tokComma) {
			return list
		}
	}
}

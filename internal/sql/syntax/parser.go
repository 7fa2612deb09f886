package syntax

// Limits of SQLite's default build.
const (
	maxStack     = 2500 // entries of the parser's stack
	startStack   = 3    // of them at the start of a statement
	maxHeight    = 1000 // of an expression
	maxCores     = 500  // of a compound SELECT
	maxArguments = 1000 // of a function
	maxParameter = 32766
)

// A parser reads one statement. After an error, err is set and tok is tokFailed, which no rule
// accepts: all rules return without a check of their own.
type parser struct {
	sql    string
	stored bool  // see ParseStored
	tok    token // the lookahead: the next token to be consumed
	last   token // the one before it
	peeked token // the one after it, if isPeek
	isPeek bool
	err    *Error
	fault  *Error // see P3
	stack  int    // see P4

	parameters int
	names      parameters

	exprs []Expr // the rest of a block of expressions, so that a few share an allocation
}

// read returns the token at or after i. The kind of the token before it decides about some
// keywords.
func (p *parser) read(before kind, i int) token {
	t := scan(p.sql, i)
	if t.kind == kwFilter || t.kind == kwOver || t.kind == kwWindow {
		t.kind = contextual(p.sql, before, t)
	}
	return t
}

// contextual returns the kind of a FILTER, OVER or WINDOW: the keyword if the tokens around it are
// a window function, else tokID.
func contextual(sql string, before kind, t token) kind {
	next := scan(sql, t.end)
	isName := next.kind.isName() || next.kind == kwWindow || next.kind == kwOver
	if next.kind == kwIndexed || next.kind == kwFilter {
		isName = false
	}
	ok := false
	switch t.kind {
	case kwFilter:
		ok = before == tokRightParen && next.kind == tokLeft
	case kwOver:
		ok = before == tokRightParen && (next.kind == tokLeft || isName)
	case kwWindow:
		ok = isName && scan(sql, next.end).kind == kwAs
	}
	if ok {
		return t.kind
	}
	return tokID
}

// advance consumes the lookahead.
func (p *parser) advance() {
	if p.fault != nil {
		p.fail(p.fault)
	}
	if p.err != nil {
		return
	}
	p.last = p.tok
	if p.isPeek {
		p.tok, p.isPeek = p.peeked, false
	} else {
		p.tok = p.read(p.last.kind, p.last.end)
	}
	p.checkIllegal()
}

func (p *parser) checkIllegal() {
	if p.tok.kind == tokIllegal {
		p.fail(&Error{`unrecognized token: "` + p.text(p.tok) + `"`, p.tok.start})
	}
}

// peek returns the kind of the token after the lookahead.
func (p *parser) peek() kind {
	if !p.isPeek && p.err == nil {
		p.peeked, p.isPeek = p.read(p.tok.kind, p.tok.end), true
	}
	return p.peeked.kind
}

func (p *parser) at(k kind) bool { return p.tok.kind == k }

// accept consumes the lookahead if it is of kind k.
func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.advance()
	return true
}

// expect consumes the lookahead, which must be of kind k.
func (p *parser) expect(k kind) {
	if !p.accept(k) {
		p.unexpected()
	}
}

// acceptBoth consumes two keywords, if the first is there. Then the second must follow (P1).
func (p *parser) acceptBoth(first, second kind) bool {
	if !p.accept(first) {
		return false
	}
	p.expect(second)
	return true
}

// unexpected fails at the lookahead.
func (p *parser) unexpected() {
	if p.tok.kind == tokEnd {
		p.fail(&Error{"incomplete input", -1})
		return
	}
	p.fail(&Error{`near "` + p.text(p.tok) + `": syntax error`, p.tok.start})
}

// fail ends the parsing, unless it has ended before.
func (p *parser) fail(err *Error) {
	if p.err == nil {
		p.err = err
	}
	p.tok.kind, p.isPeek, p.fault = tokFailed, true, nil
	p.peeked.kind = tokFailed
}

// raise notes an error of a rule, which becomes final with the next token (P3).
func (p *parser) raise(message string, offset int) {
	if p.err == nil {
		p.fault = &Error{message, offset}
	}
}

// finish wants the end of a statement.
func (p *parser) finish() {
	if !p.at(tokSemicolon) && !p.at(tokEnd) {
		p.unexpected()
	}
	if p.fault != nil {
		p.fail(p.fault)
	}
}

// push counts n entries that SQLite's parser has on its stack while a rule is being read. The
// caller must pop them, and must return at once if push reports false.
func (p *parser) push(n int) bool {
	p.stack += n
	if p.stack > maxStack {
		p.fail(&Error{"Recursion limit", -1})
		return false
	}
	return true
}

func (p *parser) pop(n int) { p.stack -= n }

func (p *parser) text(t token) string { return p.sql[t.start:t.end] }

// from returns the span from start to the end of the token that was consumed last.
func (p *parser) from(start int) Span { return Span{start, max(start, p.last.end)} }

// name consumes the name of a table, a column or the like.
func (p *parser) name() Name {
	if !p.tok.kind.isName() {
		p.unexpected()
		return Name{}
	}
	return p.anyName()
}

// anyName makes a name of the lookahead, whatever it is.
func (p *parser) anyName() Name {
	text := p.text(p.tok)
	n := Name{Span: Span{p.tok.start, p.tok.end}, Text: text}
	switch text[0] {
	case '"', '\'', '`', '[':
		n.Quote, n.Text = text[0], unquote(text)
	}
	p.advance()
	return n
}

// word consumes a collation or a word of a type.
func (p *parser) word() Name {
	if !p.tok.kind.isWord() {
		p.unexpected()
		return Name{}
	}
	return p.anyName()
}

// qualified consumes a name with the name of its schema in front, if there is one.
func (p *parser) qualified() QualifiedName {
	n := QualifiedName{Name: p.name()}
	if p.accept(tokDot) {
		n.Schema, n.Name = n.Name, p.name()
	}
	return n
}

// nameList consumes names between commas.
func (p *parser) nameList() []Name {
	list := []Name{p.name()}
	for p.accept(tokComma) {
		list = append(list, p.name())
	}
	return list
}

// optionalNames consumes names in parentheses, if there are any.
func (p *parser) optionalNames() []Name {
	if !p.accept(tokLeft) {
		return nil
	}
	list := p.nameList()
	p.expect(tokRightParen)
	return list
}

// nameTerms consumes names in parentheses, each with an old COLLATE or direction, if there are any.
func (p *parser) nameTerms() []NameTerm {
	if !p.accept(tokLeft) {
		return nil
	}
	var list []NameTerm
	for {
		t := NameTerm{Name: p.name()}
		if p.accept(kwCollate) {
			p.word()
			t.Legacy = true
		}
		if p.order() != OrderNone {
			t.Legacy = true
		}
		if t.Legacy && !p.stored {
			p.raise(`syntax error after column name "`+t.Name.Of(p.sql)+`"`, -1)
		}
		list = append(list, t)
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRightParen)
	return list
}

// order reads ASC or DESC, if it is there.
func (p *parser) order() Order {
	switch {
	case p.accept(kwAsc):
		return OrderAsc
	case p.accept(kwDesc):
		return OrderDesc
	}
	return OrderNone
}

package syntax

import "strconv"

// primary reads an expression without operators around it.
func (p *parser) primary() *Expr {
	k := p.tok.kind
	switch k {
	case tokLeft:
		return p.parenthesized()
	case tokString:
		if p.peek() != tokDot {
			return p.literal()
		}
		return p.column()
	case tokInteger, tokFloat, tokSeparated, tokBlob, kwNull, kwCurrentTime:
		return p.literal()
	case tokVariable:
		return p.parameter()
	case kwCast:
		return p.cast()
	case kwCase:
		return p.caseWhen()
	case kwExists:
		e := p.node(OpExists, p.tok.start)
		p.advance()
		p.expect(tokLeft)
		if p.push(2) {
			e.Query = p.query()
			p.pop(2)
		}
		p.expect(tokRightParen)
		return p.grown(e)
	case kwRaise:
		return p.raiseCall()
	}
	if !k.isObject() {
		p.unexpected()
		return p.node(OpNull, p.tok.start)
	}
	if p.peek() == tokLeft {
		return p.call()
	}
	return p.column()
}

// parenthesized reads an expression, a row or a query in parentheses.
func (p *parser) parenthesized() *Expr {
	start := p.tok.start
	if !p.push(1) {
		return p.node(OpNull, start)
	}
	defer p.pop(1)
	p.advance()
	if p.tok.kind.startsSelect() {
		e := p.node(OpSubquery, start)
		e.Query = p.query()
		p.expect(tokRightParen)
		return p.grown(e)
	}
	first := p.expr()
	if !p.at(tokComma) {
		p.expect(tokRightParen)
		return first
	}
	e := p.node(OpRow, start)
	e.List = []*Expr{first}
	for p.accept(tokComma) {
		e.List = append(e.List, p.right(levelOr, 2))
	}
	p.expect(tokRightParen)
	e.End = p.last.end // a row does not count for the height, as in SQLite
	return e
}

// literal reads a value. DEFAULT takes only these without parentheses.
func (p *parser) literal() *Expr {
	e := p.node(OpNull, p.tok.start)
	text := p.text(p.tok)
	switch p.tok.kind {
	case tokInteger, tokFloat:
		e.setNumber(text)
	case tokSeparated:
		number, ok := separated(text)
		if !ok {
			p.advance()
			p.raise(`unrecognized token: "`+number+`"`, -1)
			return e
		}
		e.setNumber(number)
	case tokString:
		e.Op, e.Text, e.Quote = OpString, unquote(text), '\''
	case tokBlob:
		e.Op, e.Text = OpBlob, text
	case kwCurrentTime:
		e.Op, e.Text = OpNow, text
	case kwNull:
	default:
		p.unexpected()
		return e
	}
	p.advance()
	e.End = p.last.end
	return e
}

// column reads the name of a column with up to two names in front.
func (p *parser) column() *Expr {
	e := p.node(OpColumn, p.tok.start)
	name := p.anyName()
	for len(e.Path) < 2 && p.accept(tokDot) {
		e.Path = append(e.Path, name)
		name = p.name()
	}
	e.bits = uint64(name.Start)
	e.Text, e.Quote, e.End = name.Text, name.Quote, p.last.end
	return e
}

// parameter reads a parameter and gives it its number. #NNN is a register of SQLite's own
// statements, and an error for all others.
func (p *parser) parameter() *Expr {
	e := p.node(OpParameter, p.tok.start)
	e.Text = p.text(p.tok)
	p.advance()
	e.End = p.last.end
	if len(e.Text) > 1 && e.Text[0] == '#' && isDigit(e.Text[1]) {
		p.raise(`near "`+e.Text+`": syntax error`, e.Start)
		return e
	}
	n := 0
	switch {
	case e.Text == "?":
		p.parameters++
		n = p.parameters
	case e.Text[0] == '?':
		var err error
		n, err = strconv.Atoi(e.Text[1:])
		if err != nil || n < 1 || n > maxParameter {
			p.raise("variable number must be between ?1 and ?32766", e.Start)
			return e
		}
		if n > p.parameters || !p.names.has(n) {
			p.names.add(Parameter{e.Text, n})
		}
		p.parameters = max(p.parameters, n)
	default:
		n = p.names.number(e.Text)
		if n == 0 {
			p.parameters++
			n = p.parameters
			p.names.add(Parameter{e.Text, n})
		}
	}
	if n > maxParameter {
		p.raise("too many SQL variables", e.Start)
	}
	e.Number = int32(n)
	return e
}

func (p *parser) cast() *Expr {
	e := p.node(OpCast, p.tok.start)
	p.advance()
	p.expect(tokLeft)
	e.Left = p.right(levelOr, 2)
	p.expect(kwAs)
	e.Text = p.typeName().Of(p.sql)
	p.expect(tokRightParen)
	return p.grown(e)
}

// typeName reads a type, perhaps an empty one.
func (p *parser) typeName() Span {
	if !p.tok.kind.isWord() {
		return Span{p.tok.start, p.tok.start}
	}
	start := p.tok.start
	for p.tok.kind.isWord() {
		p.advance()
	}
	if p.accept(tokLeft) {
		p.signed()
		if p.accept(tokComma) {
			p.signed()
		}
		p.expect(tokRightParen)
	}
	if p.err != nil {
		return Span{start, start}
	}
	return p.from(start)
}

// signed consumes a number with a sign, if there is one.
func (p *parser) signed() {
	if p.at(tokPlus) || p.at(tokMinus) {
		p.advance()
	}
	if !p.at(tokInteger) && !p.at(tokFloat) {
		p.unexpected()
	}
	p.advance()
}

func (p *parser) caseWhen() *Expr {
	e := p.node(OpCase, p.tok.start)
	if !p.push(2) {
		return e
	}
	defer p.pop(2)
	p.advance()
	if !p.at(kwWhen) {
		e.Left = p.expr()
	}
	if !p.at(kwWhen) {
		p.unexpected()
	}
	for p.accept(kwWhen) {
		when := p.right(levelOr, 1)
		p.expect(kwThen)
		e.List = append(e.List, when, p.right(levelOr, 3))
	}
	if p.accept(kwElse) {
		e.Right = p.right(levelOr, 2)
	}
	p.expect(kwEnd)
	return p.grown(e)
}

// raiseCall reads RAISE, which only triggers may use.
func (p *parser) raiseCall() *Expr {
	e := p.node(OpRaise, p.tok.start)
	p.advance()
	p.expect(tokLeft)
	e.Text = p.text(p.tok)
	switch p.tok.kind {
	case kwIgnore:
		p.advance()
	case kwRollback, kwAbort, kwFail:
		p.advance()
		p.expect(tokComma)
		e.Left = p.right(levelOr, 4)
	default:
		p.unexpected()
	}
	p.expect(tokRightParen)
	return p.grown(e)
}

package ddl

// An expr is what the schema needs to know of an expression: whether it is no more than a name or a string, and which
// collation it asks for. The text of it is kept by whoever parses it.
type expr struct {
	kind      exprKind
	name      string // of exprName and exprString, without quotes
	quote     byte   // that stood around the name, 0 if none
	collation string // of the outermost COLLATE, "" if the expression as a whole has none
	collates  int    // COLLATE operators around the name
}

type exprKind uint8

const (
	exprOther exprKind = iota
	exprName
	exprString
)

// collate returns the expression with a COLLATE operator around it.
func (x expr) collate(name string) expr {
	x.collation = name
	x.collates++
	return x
}

// An operator is what may follow an operand.
type operator uint8

const (
	opNone    operator = iota
	opInfix            // takes an operand after it
	opPostfix          // is complete
)

// A chain is the state of one run of operands and operators at the same level.
type chain struct {
	between int  // BETWEENs that wait for their AND
	like    bool // ESCAPE may follow
	loose   bool // NOT, AND or OR was seen: what follows binds tighter than the whole
}

// expr consumes an expression.
func (p *parser) expr() (expr, error) {
	if p.depth++; p.depth > maxNesting {
		return expr{}, p.errorf("expression nested too deeply")
	}
	var c chain
	x, err := p.unary(&c)
	for err == nil {
		var op operator
		if op, err = p.operator(&c); err != nil || op == opNone {
			break
		}
		if op == opInfix {
			_, err = p.unary(&c)
			x = expr{}
			continue
		}
		x = expr{}
		if y, err := p.collates(x); err != nil {
			return x, err
		} else if !c.loose {
			x = y
		}
	}
	if err == nil && c.between > 0 {
		err = p.errorf("%s, want AND", p.found())
	}
	p.depth--
	return x, err
}

// unary consumes prefix operators, an operand and the COLLATE operators that bind to it.
func (p *parser) unary(c *chain) (expr, error) {
	signed := false
	for ; ; p.next() {
		switch p.tok.kind {
		case kwNot:
			c.loose = true
			continue
		case tokPlus, tokMinus, tokTilde:
			signed = true
			continue
		}
		break
	}
	x, err := p.operand()
	if signed {
		x = expr{}
	}
	if err == nil {
		x, err = p.collates(x)
	}
	if c.loose {
		x = expr{}
	}
	return x, err
}

// collates consumes COLLATE operators.
func (p *parser) collates(x expr) (expr, error) {
	for p.tok.kind == kwCollate {
		name, err := p.collation()
		if err != nil {
			return x, err
		}
		x = x.collate(name)
	}
	return x, nil
}

// operator consumes an infix or postfix operator other than COLLATE, if one is next.
func (p *parser) operator(c *chain) (operator, error) {
	switch p.tok.kind {
	case tokOperator, tokPlus, tokMinus, tokStar:
		p.next()
		return opInfix, nil
	case kwOr:
		c.loose = true
		p.next()
		return opInfix, nil
	case kwAnd:
		c.and()
		p.next()
		return opInfix, nil
	case kwEscape:
		if !c.like {
			return opNone, nil
		}
		c.like = false
		p.next()
		return opInfix, nil
	case kwIsnull, kwNotnull:
		p.next()
		return opPostfix, nil
	case kwIs:
		return opInfix, p.is()
	case kwNot:
		p.next()
		if p.accept(kwNull) {
			return opPostfix, nil
		}
		op, err := p.negatable(c)
		if err == nil && op == opNone {
			err = p.unexpected()
		}
		return op, err
	}
	return p.negatable(c)
}

// and notes an AND, which belongs to a BETWEEN if one waits for it.
func (c *chain) and() {
	if c.between > 0 {
		c.between--
	} else {
		c.loose = true
	}
}

// negatable consumes one of the operators that may have NOT before them.
func (p *parser) negatable(c *chain) (operator, error) {
	switch p.tok.kind {
	case kwLike, kwMatch:
		c.like = true
		p.next()
		return opInfix, nil
	case kwBetween:
		c.between++
		p.next()
		return opInfix, nil
	case kwIn:
		p.next()
		return opPostfix, p.inList()
	}
	return opNone, nil
}

// is consumes IS [NOT] [DISTINCT FROM].
func (p *parser) is() error {
	p.next()
	p.accept(kwNot)
	if p.accept(kwDistinct) {
		return p.expect(kwFrom, "FROM")
	}
	return nil
}

// inList consumes what follows IN: a list, a SELECT, or the name of a table, perhaps with arguments.
func (p *parser) inList() error {
	if p.tok.kind == tokLP {
		return p.list()
	}
	p.refers = p.tok.start
	if _, err := p.qualified(); err != nil {
		return err
	}
	if p.tok.kind == tokLP {
		return p.list()
	}
	return nil
}

// list consumes a parenthesis with a SELECT or expressions in it, perhaps none.
func (p *parser) list() error {
	if p.second() == tokRP {
		p.next()
		p.next()
		return nil
	}
	_, err := p.parens()
	return err
}

// qualified consumes a name with up to two more after dots and reports whether there were any.
func (p *parser) qualified() (dotted bool, err error) {
	if _, err = p.name("a name"); err != nil {
		return false, err
	}
	for range 2 {
		if !p.accept(tokDot) {
			break
		}
		dotted = true
		if _, err = p.name("a name"); err != nil {
			break
		}
	}
	return dotted, err
}

// operand consumes a literal, a name, a function call, a parenthesis, CAST, CASE, EXISTS or RAISE.
func (p *parser) operand() (expr, error) {
	switch p.tok.kind {
	case tokLP:
		return p.parens()
	case kwCast:
		return expr{}, p.cast()
	case kwCase:
		return expr{}, p.caseWhen()
	case kwExists, kwRaise:
		p.next()
		if p.tok.kind != tokLP {
			return expr{}, p.unexpected()
		}
		return expr{}, p.opaque()
	case tokVariable:
		return expr{}, p.errorf("parameter in a schema")
	}
	if p.tok.kind.isLiteral() {
		return expr{}, p.literal()
	}
	return p.reference()
}

// literal consumes a literal that is not a string.
func (p *parser) literal() error {
	if p.tok.kind == tokQNumber && !validQNumber(p.text(p.tok)) {
		return p.errorf("unrecognized token %q", clip(p.text(p.tok)))
	}
	p.next()
	return nil
}

// reference consumes a string, a name or a function call.
func (p *parser) reference() (expr, error) {
	t := p.tok
	if !t.kind.isName() {
		return expr{}, p.unexpected()
	}
	if p.second() == tokLP && t.kind != tokString {
		return expr{}, p.call()
	}
	dotted, err := p.qualified()
	if err != nil || dotted {
		p.refers = t.start
		return expr{}, err
	}
	x := expr{kind: exprName, name: Unquote(p.text(t))}
	if t.kind == tokString {
		x.kind = exprString
	} else if !isTruth(p.text(t)) {
		p.refers = t.start
	}
	if c := p.sql[t.start]; isQuote(c) {
		x.quote = c
	}
	return x, nil
}

// parens consumes a parenthesis around a SELECT, one expression, or several. Around one expression it changes nothing.
func (p *parser) parens() (expr, error) {
	switch p.second() {
	case kwSelect, kwValues, kwWith:
		return expr{}, p.opaque()
	}
	p.next()
	x, n, err := p.exprs()
	if err != nil {
		return x, err
	}
	if n > 1 {
		x = expr{}
	}
	return x, p.expect(tokRP, "an operator or )")
}

// opaque consumes a parenthesis with something in it that is not looked into, such as a SELECT.
func (p *parser) opaque() error {
	p.refers = p.tok.start
	return p.group()
}

// exprs consumes expressions with commas between them and returns the last and their number.
func (p *parser) exprs() (x expr, n int, err error) {
	for {
		if x, err = p.expr(); err != nil {
			return x, n, err
		}
		n++
		if !p.accept(tokComma) {
			return x, n, nil
		}
	}
}

// cast consumes CAST ( expr AS type ).
func (p *parser) cast() error {
	p.next()
	if err := p.expect(tokLP, "("); err != nil {
		return err
	}
	if _, err := p.expr(); err != nil {
		return err
	}
	if err := p.expect(kwAs, "AS"); err != nil {
		return err
	}
	if _, err := p.typeName(); err != nil {
		return err
	}
	return p.expect(tokRP, ")")
}

// caseWhen consumes CASE [expr] WHEN expr THEN expr ... [ELSE expr] END.
func (p *parser) caseWhen() error {
	p.next()
	if p.tok.kind != kwWhen {
		if _, err := p.expr(); err != nil {
			return err
		}
	}
	if p.tok.kind != kwWhen {
		return p.errorf("%s, want WHEN", p.found())
	}
	for p.tok.kind == kwWhen {
		if err := p.when(); err != nil {
			return err
		}
	}
	if p.accept(kwElse) {
		if _, err := p.expr(); err != nil {
			return err
		}
	}
	return p.expect(kwEnd, "END")
}

func (p *parser) when() error {
	p.next()
	if _, err := p.expr(); err != nil {
		return err
	}
	if err := p.expect(kwThen, "THEN"); err != nil {
		return err
	}
	_, err := p.expr()
	return err
}

// call consumes a function call with its FILTER and OVER.
func (p *parser) call() error {
	p.next()
	p.next()
	if err := p.arguments(); err != nil {
		return err
	}
	if err := p.expect(tokRP, ")"); err != nil {
		return err
	}
	if p.isWord("filter") && p.second() == tokLP {
		p.next()
		if err := p.group(); err != nil {
			return err
		}
	}
	return p.over()
}

// arguments consumes * or [DISTINCT | ALL] expr, ... [ORDER BY term, ...].
func (p *parser) arguments() error {
	if p.accept(tokStar) || p.tok.kind == tokRP {
		return nil
	}
	if !p.accept(kwDistinct) {
		p.accept(kwAll)
	}
	if p.tok.kind != tokRP && p.tok.kind != kwOrder {
		if _, _, err := p.exprs(); err != nil {
			return err
		}
	}
	if !p.accept(kwOrder) {
		return nil
	}
	if err := p.expect(kwBy, "BY"); err != nil {
		return err
	}
	return p.ordering()
}

// ordering consumes the terms of an ORDER BY.
func (p *parser) ordering() error {
	for {
		if _, err := p.expr(); err != nil {
			return err
		}
		p.sortOrder()
		if p.accept(kwNulls) && !p.accept(kwFirst) && !p.accept(kwLast) {
			return p.unexpected()
		}
		if !p.accept(tokComma) {
			return nil
		}
	}
}

// over consumes OVER name or OVER ( window ), if next.
func (p *parser) over() error {
	if !p.isWord("over") {
		return nil
	}
	switch k := p.second(); {
	case k == tokLP:
		p.next()
		return p.group()
	case k.isName():
		p.next()
		p.next()
	}
	return nil
}

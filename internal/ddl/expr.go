package ddl

// An expr holds the facts about an expression that the schema needs: whether it is no more than a
// name or a string, and its collation. The caller keeps its text.
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

// A precedence says how tightly an operator binds.
type precedence uint8

// The precedences, from loose to tight. All operators but NOT and the signs are left-associative.
const (
	precNone    precedence = iota
	precOr                 // OR
	precAnd                // AND
	precNot                // NOT
	precEqual              // = <> IS LIKE MATCH BETWEEN IN ISNULL NOTNULL
	precCompare            // < <= > >=
	precBits               // & | << >>
	precSum                // + -
	precProduct            // * / %
	precConcat             // || -> ->>
	precCollate            // COLLATE
	precSign               // prefix + - ~
)

// precedence returns how tightly a token binds as an infix or postfix operator, precNone if it is
// none. NOT stands before IN, LIKE and the like, and binds as loosely there as in front of an
// expression.
func (k tokenKind) precedence() precedence {
	switch k {
	case kwOr:
		return precOr
	case kwAnd:
		return precAnd
	case kwNot:
		return precNot
	case tokEqual, kwIs, kwLike, kwMatch, kwBetween, kwIn, kwIsnull, kwNotnull:
		return precEqual
	case tokCompare:
		return precCompare
	case tokBits:
		return precBits
	case tokPlus, tokMinus:
		return precSum
	case tokStar, tokProduct:
		return precProduct
	case tokConcat:
		return precConcat
	case kwCollate:
		return precCollate
	}
	return precNone
}

// expr consumes an expression.
func (p *parser) expr() (expr, error) { return p.climb(precOr) }

// climb consumes an operand and the operators after it that bind as tightly as least or tighter.
func (p *parser) climb(least precedence) (expr, error) {
	if p.depth++; p.depth > maxNesting {
		return expr{}, p.errorf("expression nested too deeply")
	}
	x, err := p.prefixed()
	for err == nil {
		prec := p.tok.kind.precedence()
		if prec == precNone || prec < least {
			break
		}
		x, err = p.operate(x, prec)
	}
	p.depth--
	return x, err
}

// right consumes the right side of an operator.
func (p *parser) right(of precedence) error {
	_, err := p.climb(of + 1)
	return err
}

// prefixed consumes an operand with the operators before it.
func (p *parser) prefixed() (expr, error) {
	least := precSign
	switch p.tok.kind {
	case kwNot:
		least = precNot
	case tokPlus, tokMinus, tokTilde:
	default:
		return p.operand()
	}
	p.next()
	_, err := p.climb(least)
	return expr{}, err
}

// operate consumes an operator and its right side. The left side has become x.
func (p *parser) operate(x expr, prec precedence) (expr, error) {
	switch p.tok.kind {
	case kwCollate:
		name, err := p.collation()
		return x.collate(name), err
	case kwIsnull, kwNotnull:
		p.next()
		return expr{}, nil
	case kwIs:
		return expr{}, p.is()
	case kwNot:
		p.next()
		if p.accept(kwNull) {
			return expr{}, nil
		}
		return expr{}, p.negatable()
	case kwLike, kwMatch, kwBetween, kwIn:
		return expr{}, p.negatable()
	}
	p.next()
	return expr{}, p.right(prec)
}

// negatable consumes one of the operators that may have NOT before them, and its right side.
func (p *parser) negatable() error {
	switch {
	case p.accept(kwLike), p.accept(kwMatch):
		if err := p.right(precEqual); err != nil || !p.accept(kwEscape) {
			return err
		}
		return p.right(precEqual)
	case p.accept(kwBetween):
		return p.between()
	case p.accept(kwIn):
		return p.inList()
	}
	return p.unexpected()
}

// between consumes the bounds of BETWEEN. The lower one reaches to the first AND that no OR has
// claimed.
func (p *parser) between() error {
	_, err := p.climb(precNot)
	for err == nil && p.accept(kwOr) {
		err = p.right(precOr)
	}
	if err == nil {
		err = p.expect(kwAnd, "AND")
	}
	if err != nil {
		return err
	}
	return p.right(precEqual)
}

// is consumes IS [NOT] [DISTINCT FROM] and its right side.
func (p *parser) is() error {
	p.next()
	p.accept(kwNot)
	if p.accept(kwDistinct) {
		if err := p.expect(kwFrom, "FROM"); err != nil {
			return err
		}
	}
	return p.right(precEqual)
}

// inList consumes the part after IN: a list, a SELECT, or the name of a table, perhaps with
// arguments.
func (p *parser) inList() error {
	if p.tok.kind == tokLP {
		return p.list()
	}
	p.unknown()
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
		p.mentions.note(p.tok, mentionUnknown) // SQLite forgets the names to the left
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
	case kwExists:
		p.next()
		if p.tok.kind != tokLP || !p.second().startsSelect() {
			return expr{}, p.unexpected()
		}
		return expr{}, p.opaque()
	case kwRaise:
		return expr{}, p.raise()
	case tokVariable:
		p.next()
		return expr{}, nil
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
		p.mentions.noteMember(p.sql, t, p.end)
		return expr{}, err
	}
	p.mentions.note(t, t.mention())
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

// parens consumes a parenthesis around a SELECT, one expression, or several. Around one expression
// it changes nothing.
func (p *parser) parens() (expr, error) {
	if p.second().startsSelect() {
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

// opaque consumes a SELECT in parentheses without looking into it.
func (p *parser) opaque() error {
	p.unknown()
	return p.group()
}

// unknown notes that names are next which this package does not look at.
func (p *parser) unknown() {
	p.refers = p.tok.start
	p.mentions.note(p.tok, mentionUnknown)
}

// raise consumes RAISE ( IGNORE ) or RAISE ( algorithm, expr ).
func (p *parser) raise() error {
	p.unknown()
	p.next()
	if err := p.expect(tokLP, "("); err != nil {
		return err
	}
	if p.accept(kwIgnore) {
		return p.expect(tokRP, ")")
	}
	if !p.accept(kwRollback) && !p.accept(kwAbort) && !p.accept(kwFail) {
		return p.unexpected()
	}
	if err := p.expect(tokComma, ","); err != nil {
		return err
	}
	if _, err := p.expr(); err != nil {
		return err
	}
	return p.expect(tokRP, "an operator or )")
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
	if p.tok.kind == kwFilter || p.tok.kind == kwOver {
		p.mentions.note(p.tok, mentionUnknown)
	}
	if p.accept(kwFilter) {
		if err := p.filter(); err != nil {
			return err
		}
	}
	if !p.accept(kwOver) {
		return nil
	}
	if p.tok.kind == tokLP {
		return p.group()
	}
	p.next()
	return nil
}

// filter consumes ( WHERE expr ).
func (p *parser) filter() error {
	p.next()
	if err := p.expect(kwWhere, "WHERE"); err != nil {
		return err
	}
	if _, err := p.expr(); err != nil {
		return err
	}
	return p.expect(tokRP, "an operator or )")
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

// parenthesised consumes ( expr ) and returns the text between the parentheses.
func (p *parser) parenthesised() (string, error) {
	if err := p.expect(tokLP, "("); err != nil {
		return "", err
	}
	start := p.end
	if _, err := p.expr(); err != nil {
		return "", err
	}
	text := trimSpace(p.sql[start:p.tok.start])
	return text, p.expect(tokRP, "an operator or )")
}

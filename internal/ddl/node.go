package ddl

import "strings"

// A Node is one operation of an expression, with its operands. Parentheses leave no node of their
// own.
type Node struct {
	Op       Op
	Text     string   // of a literal, name, function or operator, as Op says
	Quote    byte     // around a name, 0 if none
	Not      bool     // the operator had NOT before it
	Based    bool     // OpCase has an operand before its first WHEN
	Affinity Affinity // of OpCast
	Args     []*Node

	height int
}

// An Op is the kind of a Node.
type Op uint8

// The kinds of nodes. A function and an operator have their words in Text: the name without quotes,
// or the operator's token with == as =, != as <> and keywords in upper case.
const (
	OpNull    Op = iota
	OpNumber     // Text is the numeral without underscores
	OpString     // Text is the string without quotes
	OpBlob       // Text holds the hexadecimal digits
	OpName       // Text is the name without quotes
	OpMember     // [DATABASE.]TABLE.COLUMN: Text is the column, Args[0] the name of the table
	OpPrefix     // + - ~ NOT
	OpInfix      // arithmetic, comparison, AND, OR, IS, IS NOT
	OpIsNull     // ISNULL, or with Not NOTNULL
	OpBetween    // Args are the value and the bounds
	OpIn         // Args are the value and the list
	OpLike       // LIKE or GLOB; Args are the value, the pattern and perhaps the escape character
	OpCollate    // Text is the collation
	OpCast
	OpCase // Args are the base if Based is set, pairs of WHEN and THEN, and the value of ELSE
	OpCall // Args are the arguments
)

// maxHeight is how deep an expression may nest: SQLite's default limit.
const maxHeight = 1_000

// ParseExpr parses one expression. It returns a *SyntaxError, also for those parts of the grammar
// that only a query can evaluate: SELECT, RAISE, parameters, row values, FILTER and OVER.
func ParseExpr(text string) (*Node, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	np := &nodeParser{p}
	n, err := np.climb(precOr)
	if err == nil && p.tok.kind != tokEnd {
		err = p.unexpected()
	}
	return n, err
}

// A nodeParser parses as parser does, by the same precedences, and keeps the expression as nodes.
type nodeParser struct{ *parser }

// node makes a node, unless it is too high.
func (p *nodeParser) node(n Node, args ...*Node) (*Node, error) {
	n.Args = args
	for _, a := range args {
		n.height = max(n.height, a.height)
	}
	if n.height++; n.height > maxHeight {
		return nil, p.errorf("expression nested too deeply")
	}
	return &n, nil
}

// climb consumes an operand and the operators after it that bind as tightly as least or tighter.
func (p *nodeParser) climb(least precedence) (*Node, error) {
	if p.depth++; p.depth > maxHeight {
		return nil, p.errorf("expression nested too deeply")
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

func (p *nodeParser) prefixed() (*Node, error) {
	least := precSign
	switch p.tok.kind {
	case kwNot:
		least = precNot
	case tokPlus, tokMinus, tokTilde:
	default:
		return p.operand()
	}
	word := p.word()
	x, err := p.climb(least)
	if err != nil {
		return nil, err
	}
	return p.node(Node{Op: OpPrefix, Text: word}, x)
}

// word consumes a token and returns the canonical form of an operator.
func (p *nodeParser) word() string {
	switch w := strings.ToUpper(p.text(p.next())); w {
	case "==":
		return "="
	case "!=":
		return "<>"
	default:
		return w
	}
}

// operate consumes an operator and its right side.
func (p *nodeParser) operate(x *Node, prec precedence) (*Node, error) {
	switch p.tok.kind {
	case kwCollate:
		name, err := p.collation()
		if err != nil {
			return nil, err
		}
		return p.node(Node{Op: OpCollate, Text: name}, x)
	case kwIsnull, kwNotnull:
		return p.node(Node{Op: OpIsNull, Not: p.next().kind == kwNotnull}, x)
	case kwIs:
		return p.is(x)
	case kwNot:
		p.next()
		if p.accept(kwNull) {
			return p.node(Node{Op: OpIsNull, Not: true}, x)
		}
		return p.negatable(x, true)
	case kwLike, kwMatch, kwBetween, kwIn:
		return p.negatable(x, false)
	}
	return p.infix(p.word(), x, prec)
}

// infix consumes the right operand of an operator that was consumed.
func (p *nodeParser) infix(word string, x *Node, prec precedence) (*Node, error) {
	y, err := p.climb(prec + 1)
	if err != nil {
		return nil, err
	}
	return p.node(Node{Op: OpInfix, Text: word}, x, y)
}

// is consumes IS [NOT] [DISTINCT FROM] and its right side.
func (p *nodeParser) is(x *Node) (*Node, error) {
	p.next()
	not := p.accept(kwNot)
	if p.accept(kwDistinct) {
		if err := p.expect(kwFrom, "FROM"); err != nil {
			return nil, err
		}
		not = !not
	}
	word := "IS"
	if not {
		word = "IS NOT"
	}
	return p.infix(word, x, precEqual)
}

// negatable consumes one of the operators that may have NOT before them.
func (p *nodeParser) negatable(x *Node, not bool) (*Node, error) {
	switch p.tok.kind {
	case kwLike, kwMatch:
		return p.like(x, not)
	case kwBetween:
		return p.between(x, not)
	case kwIn:
		return p.in(x, not)
	}
	return nil, p.unexpected()
}

func (p *nodeParser) like(x *Node, not bool) (*Node, error) {
	word := p.word()
	y, err := p.climb(precEqual + 1)
	if err != nil {
		return nil, err
	}
	args := []*Node{x, y}
	if p.accept(kwEscape) {
		e, err := p.climb(precEqual + 1)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return p.node(Node{Op: OpLike, Text: word, Not: not}, args...)
}

// between consumes the bounds of BETWEEN. The lower one reaches to the first AND that no OR has
// claimed.
func (p *nodeParser) between(x *Node, not bool) (*Node, error) {
	p.next()
	low, err := p.climb(precNot)
	for err == nil && p.accept(kwOr) {
		low, err = p.infix("OR", low, precOr)
	}
	if err == nil {
		err = p.expect(kwAnd, "AND")
	}
	if err != nil {
		return nil, err
	}
	high, err := p.climb(precEqual + 1)
	if err != nil {
		return nil, err
	}
	return p.node(Node{Op: OpBetween, Not: not}, x, low, high)
}

func (p *nodeParser) in(x *Node, not bool) (*Node, error) {
	p.next()
	if p.tok.kind != tokLP || p.second().startsSelect() {
		return nil, p.errorf("IN with a table or a SELECT")
	}
	p.next()
	list, err := p.list()
	if err != nil {
		return nil, err
	}
	return p.node(Node{Op: OpIn, Not: not}, append([]*Node{x}, list...)...)
}

// list consumes expressions with commas between them, perhaps none, and the closing parenthesis.
func (p *nodeParser) list() (list []*Node, err error) {
	if p.accept(tokRP) {
		return nil, nil
	}
	for {
		x, err := p.climb(precOr)
		if err != nil {
			return nil, err
		}
		if list = append(list, x); !p.accept(tokComma) {
			return list, p.expect(tokRP, ", or )")
		}
	}
}

// operand consumes a literal, a name, a function call, a parenthesis, CAST or CASE.
func (p *nodeParser) operand() (*Node, error) {
	switch p.tok.kind {
	case tokLP:
		return p.parenthesis()
	case kwCast:
		return p.castAs()
	case kwCase:
		return p.cases()
	case kwExists, kwRaise, tokVariable, kwCurrentTime:
		return nil, p.unexpected()
	}
	if p.tok.kind.isLiteral() {
		return p.literal()
	}
	return p.reference()
}

func (p *nodeParser) parenthesis() (*Node, error) {
	if p.second().startsSelect() {
		return nil, p.errorf("a SELECT")
	}
	p.next()
	list, err := p.list()
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, p.errorf("a row value")
	}
	return list[0], nil
}

func (p *nodeParser) literal() (*Node, error) {
	t := p.tok
	if err := p.parser.literal(); err != nil {
		return nil, err
	}
	text := p.text(t)
	switch t.kind {
	case kwNull:
		return p.node(Node{Op: OpNull})
	case tokBlob:
		return p.node(Node{Op: OpBlob, Text: text[2 : len(text)-1]})
	}
	return p.node(Node{Op: OpNumber, Text: strings.ReplaceAll(text, "_", "")})
}

// reference consumes a string, a name or a function call.
func (p *nodeParser) reference() (*Node, error) {
	t := p.tok
	if !t.kind.isName() {
		return nil, p.unexpected()
	}
	text := p.text(t)
	if p.second() == tokLP && t.kind != tokString {
		return p.call()
	}
	p.next()
	if p.tok.kind == tokDot {
		return p.member(Unquote(text))
	}
	if t.kind == tokString {
		return p.node(Node{Op: OpString, Text: Unquote(text)})
	}
	n := Node{Op: OpName, Text: Unquote(text)}
	if isQuote(text[0]) {
		n.Quote = text[0]
	}
	return p.node(n)
}

// member consumes the dot and the column after the name of a table, or the table and the column
// after that of a database.
func (p *nodeParser) member(table string) (*Node, error) {
	p.next()
	name, err := p.name("a column")
	if err != nil {
		return nil, err
	}
	if p.accept(tokDot) { // the first name was that of a database, which SQLite ignores in a schema
		table = name
		if name, err = p.name("a column"); err != nil {
			return nil, err
		}
	}
	return p.node(Node{Op: OpMember, Text: name}, &Node{Op: OpName, Text: table})
}

// call consumes a function with its arguments.
func (p *nodeParser) call() (*Node, error) {
	name := Unquote(p.text(p.next()))
	p.next()
	if p.tok.kind == tokStar || p.tok.kind == kwDistinct || p.tok.kind == kwAll {
		return nil, p.errorf("an aggregate")
	}
	args, err := p.list()
	if err != nil {
		return nil, err
	}
	if p.tok.kind == kwFilter || p.tok.kind == kwOver {
		return nil, p.unexpected()
	}
	return p.node(Node{Op: OpCall, Text: name}, args...)
}

// castAs consumes CAST ( expr AS type ).
func (p *nodeParser) castAs() (*Node, error) {
	p.next()
	if err := p.expect(tokLP, "("); err != nil {
		return nil, err
	}
	x, err := p.climb(precOr)
	if err != nil {
		return nil, err
	}
	if err := p.expect(kwAs, "AS"); err != nil {
		return nil, err
	}
	declared, err := p.typeName()
	if err != nil {
		return nil, err
	}
	if err := p.expect(tokRP, ")"); err != nil {
		return nil, err
	}
	return p.node(Node{Op: OpCast, Affinity: scanAffinity(Unquote(declared))}, x)
}

// cases consumes CASE [expr] WHEN expr THEN expr ... [ELSE expr] END. Without ELSE there is one of
// NULL.
func (p *nodeParser) cases() (n *Node, err error) {
	p.next()
	var args []*Node
	based := p.tok.kind != kwWhen
	if based {
		if args, err = p.part(args); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != kwWhen {
		return nil, p.errorf("%s, want WHEN", p.found())
	}
	for p.accept(kwWhen) {
		if args, err = p.part(args); err != nil {
			return nil, err
		}
		if err = p.expect(kwThen, "THEN"); err != nil {
			return nil, err
		}
		if args, err = p.part(args); err != nil {
			return nil, err
		}
	}
	if p.accept(kwElse) {
		args, err = p.part(args)
	} else {
		args = append(args, &Node{Op: OpNull, height: 1})
	}
	if err != nil {
		return nil, err
	}
	if err := p.expect(kwEnd, "END"); err != nil {
		return nil, err
	}
	return p.node(Node{Op: OpCase, Based: based}, args...)
}

// part consumes an expression and appends it.
func (p *nodeParser) part(args []*Node) ([]*Node, error) {
	x, err := p.climb(precOr)
	return append(args, x), err
}

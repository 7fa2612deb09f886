package syntax

// An operator of a higher level binds first. Operators of one level bind from left to right.
const (
	levelNone = iota
	levelOr
	levelAnd
	levelNot
	levelEqual // IS MATCH LIKE BETWEEN IN ISNULL NOTNULL = <>
	levelLess
	levelEscape
	levelBits
	levelAdd
	levelMultiply
	levelConcat
	levelCollate
	levelSign
)

// An infix is an operator between two expressions.
type infix struct {
	level int
	op    Op
}

// infixes lists the operators that need no more than their level.
var infixes = [tokInteger]infix{
	tokPlus: {levelAdd, OpAdd}, tokMinus: {levelAdd, OpSubtract},
	tokStar: {levelMultiply, OpMultiply}, tokSlash: {levelMultiply, OpDivide}, tokPercent: {levelMultiply, OpRemainder},
	tokEqual: {levelEqual, OpEqual}, tokNotEqual: {levelEqual, OpNotEqual},
	tokLess: {levelLess, OpLess}, tokLessEqual: {levelLess, OpLessEqual},
	tokGreater: {levelLess, OpGreater}, tokGreaterEqual: {levelLess, OpGreaterEqual},
	tokBitAnd: {levelBits, OpBitAnd}, tokBitOr: {levelBits, OpBitOr},
	tokShiftLeft: {levelBits, OpShiftLeft}, tokShiftRight: {levelBits, OpShiftRight},
	tokConcat: {levelConcat, OpConcat}, tokArrow: {levelConcat, OpArrow},
}

// infix returns the operator that the lookahead is, with level 0 if it is none.
func (p *parser) infix() infix {
	k := p.tok.kind
	switch {
	case k < tokInteger:
		in := infixes[k]
		if k == tokArrow && p.tok.end-p.tok.start == 3 {
			in.op = OpLongArrow
		}
		return in
	case k == kwOr:
		return infix{levelOr, OpOr}
	case k == kwAnd:
		return infix{levelAnd, OpAnd}
	}
	return infix{}
}

// expr reads an expression.
func (p *parser) expr() *Expr { return p.exprAbove(levelOr) }

// exprAbove reads an expression as far as its operators are of the level at least.
func (p *parser) exprAbove(level int) *Expr {
	return p.operators(p.operand(), level, false)
}

// lowerBound reads the expression between BETWEEN and AND. The first AND belongs to the BETWEEN,
// unless an operator that binds less is in front of it: "x BETWEEN a OR b AND c" has no bound yet.
func (p *parser) lowerBound() *Expr {
	return p.operators(p.operand(), levelOr, true)
}

// operand reads an expression without operators, or one with operators in front.
func (p *parser) operand() *Expr {
	op, level := OpNot, levelNot
	switch p.tok.kind {
	case kwNot:
	case tokTilde:
		op, level = OpBitNot, levelSign
	case tokMinus:
		op, level = OpMinus, levelSign
	case tokPlus:
		op, level = OpPlus, levelSign
	default:
		return p.primary()
	}
	if !p.push(1) {
		return p.node(OpNull, p.tok.start)
	}
	start := p.tok.start
	p.advance()
	x := p.exprAbove(level)
	p.pop(1)
	if x.Op == OpPlus && (op == OpMinus || op == OpPlus) {
		x.Op, x.Start = op, start // as in SQLite, -+x is -x
		return x
	}
	e := p.node(op, start)
	e.Left = x
	return p.grown(e)
}

// operators extends x by all operators behind it of the level at least. It stops at an AND if
// bound is set.
func (p *parser) operators(x *Expr, level int, bound bool) *Expr {
	for {
		if in := p.infix(); in.level != 0 {
			if in.level < level || bound && in.op == OpAnd {
				return x
			}
			p.advance()
			x = p.binary(in.op, x, p.right(in.level+1, 2))
			continue
		}
		next := p.postfix(x, level)
		if next == nil {
			return x
		}
		x = next
	}
}

// right reads the expression on the right of an operator, while n entries are on the stack.
func (p *parser) right(level, n int) *Expr {
	if !p.push(n) {
		return p.node(OpNull, p.tok.start)
	}
	e := p.exprAbove(level)
	p.pop(n)
	return e
}

func (p *parser) binary(op Op, left, right *Expr) *Expr {
	e := p.node(op, left.Start)
	e.Left, e.Right = left, right
	return p.grown(e)
}

// postfix extends x by one of the operators with a syntax of its own. It returns nil if the
// lookahead is none of the level at least.
func (p *parser) postfix(x *Expr, level int) *Expr {
	k := p.tok.kind
	switch {
	case k == kwCollate && level <= levelCollate:
		p.advance()
		name := p.word()
		e := p.node(OpCollate, x.Start)
		e.Left, e.Text, e.Quote = x, name.Text, name.Quote
		return p.grown(e)
	case k == kwNot && level <= levelNot:
		p.advance()
		if !p.at(kwNull) {
			return p.negatable(x, true)
		}
		p.advance()
		return p.nullTest(OpNotNull, x)
	case level > levelEqual:
		return nil
	case k == kwIsnull, k == kwNotnull:
		p.advance()
		if k == kwIsnull {
			return p.nullTest(OpIsNull, x)
		}
		return p.nullTest(OpNotNull, x)
	case k == kwIs:
		return p.is(x)
	}
	return p.negatable(x, false)
}

func (p *parser) nullTest(op Op, x *Expr) *Expr {
	e := p.node(op, x.Start)
	e.Left = x
	return p.grown(e)
}

// is reads IS, IS NOT, IS DISTINCT FROM or IS NOT DISTINCT FROM. IS NULL is no operator of its own
// in the grammar, but SQLite makes one of it.
func (p *parser) is(x *Expr) *Expr {
	p.advance()
	not := p.accept(kwNot)
	if p.acceptBoth(kwDistinct, kwFrom) {
		not = !not
	}
	right := p.right(levelEqual+1, 2)
	op, null := OpIs, OpIsNull
	if not {
		op, null = OpIsNot, OpNotNull
	}
	if right.Op == OpNull {
		return p.nullTest(null, x)
	}
	return p.binary(op, x, right)
}

// negatable reads LIKE and its kin, BETWEEN or IN. It returns nil if there is none, which is an
// error after NOT.
func (p *parser) negatable(x *Expr, not bool) *Expr {
	var e *Expr
	switch p.tok.kind {
	case kwLike, kwMatch:
		e = p.match(x)
	case kwBetween:
		e = p.between(x)
	case kwIn:
		e = p.in(x)
	default:
		if not {
			p.unexpected()
		}
		return nil
	}
	e.Not = not
	if not {
		e.height++
		p.checkHeight(e)
	}
	return e
}

func (p *parser) match(x *Expr) *Expr {
	e := p.node(OpMatch, x.Start)
	e.Left, e.Text = x, p.text(p.tok)
	p.advance()
	e.Right = p.right(levelEqual+1, 2)
	if p.accept(kwEscape) {
		e.List = []*Expr{p.right(levelEqual+1, 4)}
	}
	return p.grown(e)
}

func (p *parser) between(x *Expr) *Expr {
	e := p.node(OpBetween, x.Start)
	p.advance()
	if !p.push(2) {
		return e
	}
	low := p.lowerBound()
	p.pop(2)
	p.expect(kwAnd)
	e.Left, e.List = x, []*Expr{low, p.right(levelEqual+1, 3)}
	return p.grown(e)
}

// in reads IN with any of its right sides.
func (p *parser) in(x *Expr) *Expr {
	e := p.node(OpIn, x.Start)
	e.Left = x
	p.advance()
	if !p.push(3) {
		return e
	}
	if p.accept(tokLeft) {
		switch {
		case p.tok.kind.startsSelect():
			e.Query = p.query()
		case !p.at(tokRightParen):
			e.List = p.exprs1()
			e.Constant = len(e.List) == 1 && p.err == nil && constant(e.List[0]) && x.Op != OpRow
		}
		p.expect(tokRightParen)
	} else {
		name := p.qualified()
		if !name.Schema.IsZero() {
			e.Path = []Name{name.Schema}
		}
		e.Op, e.Text, e.Quote = OpInTable, name.Name.Text, name.Name.Quote
		if p.accept(tokLeft) {
			e.Call = &Call{}
			if !p.at(tokRightParen) {
				e.List = p.exprs1()
			}
			p.expect(tokRightParen)
		}
	}
	p.pop(3)
	return p.grown(e)
}

// constant reports whether SQLite takes an expression for a constant while it parses: without names
// and functions. As SQLite does, it takes each TRUE and FALSE for one that it meets before a part
// that is none.
func constant(e *Expr) bool {
	switch e.Op {
	case OpColumn:
		_, ok := e.Truth()
		if ok {
			e.Op = OpTruth
		}
		return ok
	case OpFunction, OpMatch, OpSubquery, OpExists, OpInTable, OpRaise, OpNow, OpArrow, OpLongArrow:
		return false
	}
	if e.Query != nil || e.Left != nil && !constant(e.Left) || e.Right != nil && !constant(e.Right) {
		return false
	}
	for _, x := range e.List {
		if !constant(x) {
			return false
		}
	}
	return true
}

// exprs1 reads expressions between commas, at least one.
func (p *parser) exprs1() []*Expr {
	list := []*Expr{p.expr()}
	for p.accept(tokComma) {
		list = append(list, p.right(levelOr, 2))
	}
	return list
}

// exprs0 reads expressions up to a parenthesis or ORDER BY, perhaps none.
func (p *parser) exprs0() []*Expr {
	if p.at(tokRightParen) || p.at(kwOrder) {
		return nil
	}
	return p.exprs1()
}

// node makes an expression that begins at start.
func (p *parser) node(op Op, start int) *Expr {
	if len(p.exprs) == 0 {
		p.exprs = make([]Expr, 8)
	}
	e := &p.exprs[0]
	p.exprs = p.exprs[1:]
	e.Op, e.Start, e.height = op, start, 1
	return e
}

// grown sets the end of e and its height, after its parts.
func (p *parser) grown(e *Expr) *Expr {
	e.End = max(e.Start, p.last.end)
	h := int32(0)
	for _, x := range [...]*Expr{e.Left, e.Right} {
		if x != nil {
			h = max(h, x.height)
		}
	}
	for _, x := range e.List {
		h = max(h, x.height)
	}
	if e.Query != nil {
		h = max(h, e.Query.height)
	}
	e.height = h + 1
	p.checkHeight(e)
	return e
}

func (p *parser) checkHeight(e *Expr) {
	if e.height > maxHeight {
		p.raise("Expression tree is too large (maximum depth 1000)", -1)
	}
}

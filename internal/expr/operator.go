package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// prefixes are the operators of one operand, apart from the signs.
var prefixes = map[syntax.Op]program.Op{
	syntax.OpNot: program.Not, syntax.OpBitNot: program.Complement, syntax.OpIsNull: program.IsNull, syntax.OpNotNull: program.NotNull,
}

// operations are the operators of two operands that look at neither collations nor affinities.
var operations = map[syntax.Op]program.Op{
	syntax.OpAdd: program.Add, syntax.OpSubtract: program.Subtract, syntax.OpMultiply: program.Multiply, syntax.OpDivide: program.Divide,
	syntax.OpRemainder: program.Remainder, syntax.OpBitAnd: program.BitAnd, syntax.OpBitOr: program.BitOr,
	syntax.OpShiftLeft: program.ShiftLeft, syntax.OpShiftRight: program.ShiftRight, syntax.OpConcat: program.Concat,
}

// comparisons compare two values.
var comparisons = map[syntax.Op]program.Op{
	syntax.OpEqual: program.Equal, syntax.OpNotEqual: program.NotEqual, syntax.OpLess: program.Less, syntax.OpLessEqual: program.LessEqual,
	syntax.OpGreater: program.Greater, syntax.OpGreaterEqual: program.GreaterEqual, syntax.OpIs: program.Is, syntax.OpIsNot: program.IsNot,
}

// minus is a minus and its operand. One before a number is a part of the number.
func (c *compiler) minus(n *syntax.Expr) (term, error) {
	inner := n.Left
	for inner.Op == syntax.OpPlus {
		inner = inner.Left
	}
	if inner.Op == syntax.OpInteger || inner.Op == syntax.OpFloat {
		return c.literal(inner.Text, true)
	}
	return c.unary(inner, program.Negate)
}

// unary is an operation on one operand.
func (c *compiler) unary(n *syntax.Expr, op program.Op) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n)
	if err != nil {
		return x, err
	}
	d := c.free(mark)
	c.b.Unary(op, d, x.reg, value.NoAffinity)
	return inherit(term{reg: d, affinity: value.NoAffinity}, x), nil
}

// is is IS or IS NOT.
func (c *compiler) is(n *syntax.Expr) (term, error) {
	right := n.Right
	for right.Op == syntax.OpCollate {
		right = right.Left
	}
	if truth, ok := right.Truth(); ok && (right.Op == syntax.OpTruth || c.table.ColumnIndex(right.Text) < 0) {
		return c.unary(n.Left, truthTest(truth, n.Op == syntax.OpIs))
	}
	return c.infix(n)
}

// infix is an operator between two operands.
func (c *compiler) infix(n *syntax.Expr) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Left)
	if err != nil {
		return x, err
	}
	y, err := c.compile(n.Right)
	if err != nil {
		return y, err
	}
	d := c.free(mark)
	if op, ok := operations[n.Op]; ok {
		c.b.Binary(op, d, x.reg, y.reg)
	} else if op, ok := comparisons[n.Op]; ok {
		c.compare(op, d, x, y)
	} else {
		return term{}, errors.New("the operator ->")
	}
	return inherit(term{reg: d, affinity: value.NoAffinity}, x, y), nil
}

// truthTest is IS [NOT] TRUE or FALSE.
func truthTest(truth, is bool) program.Op {
	switch {
	case truth && is:
		return program.IsTrue
	case truth:
		return program.IsNotTrue
	case is:
		return program.IsFalse
	}
	return program.IsNotFalse
}

// compare writes the result of a comparison to d.
func (c *compiler) compare(op program.Op, d program.Reg, x, y term) {
	c.b.Compare(op, d, x.reg, y.reg, value.Comparison(x.affinity, y.affinity), compared(x, y))
}

// logic is AND or OR. It does not evaluate the right operand if the left one decides.
func (c *compiler) logic(n *syntax.Expr) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Left)
	if err != nil {
		return x, err
	}
	op, decided, jump := program.And, c.b.Constant(record.OfInt(0)), c.b.JumpFalse
	if n.Op == syntax.OpOr {
		op, decided, jump = program.Or, c.b.Constant(record.OfInt(1)), c.b.JumpTrue
	}
	short := jump(x.reg)
	y, err := c.compile(n.Right)
	if err != nil {
		return y, err
	}
	d := c.free(mark)
	c.b.Binary(op, d, x.reg, y.reg)
	end := c.b.Jump()
	c.b.Land(short)
	c.b.Move(d, decided)
	c.b.Land(end)
	return inherit(term{reg: d, affinity: value.NoAffinity}, x, y), nil
}

// negated is a term, or NOT before it.
func (c *compiler) negated(x term, yes bool) term {
	if !yes {
		return x
	}
	c.b.Unary(program.Not, x.reg, x.reg, value.NoAffinity)
	return term{reg: x.reg, affinity: value.NoAffinity, collation: x.collation, explicit: x.explicit}
}

// between is x >= low AND x <= high.
func (c *compiler) between(n *syntax.Expr) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Left)
	if err != nil {
		return x, err
	}
	top := c.b.Mark()
	low, err := c.compile(n.List[0])
	if err != nil {
		return low, err
	}
	above := c.free(top)
	c.compare(program.GreaterEqual, above, x, low)
	short := c.b.JumpFalse(above)
	top = c.b.Mark()
	high, err := c.compile(n.List[1])
	if err != nil {
		return high, err
	}
	below := c.free(top)
	c.compare(program.LessEqual, below, x, high)
	c.b.Binary(program.And, above, above, below)
	c.b.Land(short)
	d := c.free(mark)
	c.b.Move(d, above)
	return c.negated(inherit(term{reg: d, affinity: value.NoAffinity}, x, low, high), n.Not), nil
}

// in is x IN (list). The values of the list get the affinity of x and are compared by its
// collation.
func (c *compiler) in(n *syntax.Expr) (term, error) {
	switch {
	case n.Query != nil:
		return term{}, errors.New(refused[syntax.OpInTable])
	case len(n.List) == 0: // its meaning next to IS depends on the version
		return term{}, errors.New("IN with an empty list")
	}
	mark := c.b.Mark()
	x, err := c.compile(n.Left)
	if err != nil {
		return x, err
	}
	terms := []term{x}
	if n.Constant { // SQLite makes x = +value of it
		y, err := c.compile(n.List[0])
		if err != nil {
			return y, err
		}
		y.affinity = value.NoAffinity
		d := c.free(mark)
		c.compare(program.Equal, d, x, y)
		return c.negated(inherit(term{reg: d, affinity: value.NoAffinity}, x, y), n.Not), nil
	}
	found := c.b.Alloc()
	c.b.Move(found, c.b.Constant(record.OfInt(0)))
	top := c.b.Mark()
	var jumps []program.Jump
	for _, item := range n.List {
		y, err := c.compile(item)
		if err != nil {
			return y, err
		}
		terms = append(terms, y)
		jumps = append(jumps, c.b.In(found, x.reg, y.reg, x.affinity, x.collation))
		c.b.Release(top)
	}
	c.b.Land(jumps...)
	d := c.free(mark)
	c.b.Move(d, found)
	return c.negated(inherit(term{reg: d, affinity: value.NoAffinity}, terms...), n.Not), nil
}

// like is x [NOT] LIKE pattern [ESCAPE character], or GLOB.
func (c *compiler) like(n *syntax.Expr) (term, error) {
	p, word := function.Like(), strings.ToUpper(n.Text)
	switch {
	case word == "GLOB":
		if p = function.Glob(); len(n.List) > 0 {
			return term{}, errors.New("GLOB with ESCAPE")
		}
	case word != "LIKE":
		return term{}, fmt.Errorf("the operator %s", word)
	}
	if len(n.List) > 0 && (n.List[0].Op != syntax.OpString || !p.SetEscape([]byte(n.List[0].Text))) {
		return term{}, errors.New("ESCAPE with anything but a character")
	}
	operands := []*syntax.Expr{n.Left, n.Right}
	x, err := c.calling(operands, func(args []record.Value) (record.Value, error) { return p.Match(args[1], args[0]) })
	return c.negated(x, n.Not), err
}

// cast is CAST.
func (c *compiler) cast(n *syntax.Expr) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Left)
	if err != nil {
		return x, err
	}
	d, to := c.free(mark), ddl.AffinityOf(n.Text)
	c.b.Unary(program.Cast, d, x.reg, to)
	return term{reg: d, affinity: to, collation: x.collation, explicit: x.explicit}, nil
}

// caseOf is CASE: with a base, which each WHEN is compared with, pairs of a condition and its
// value, and the value of ELSE.
func (c *compiler) caseOf(n *syntax.Expr) (term, error) {
	args := n.List
	if n.Right != nil {
		args = append(slices.Clip(args), n.Right)
	}
	d := c.b.Alloc()
	if n.Left == nil {
		return c.cases(d, args, nil, func(when term) term { return when })
	}
	base, err := c.compile(n.Left)
	if err != nil {
		return base, err
	}
	return c.cases(d, args, []term{base}, func(when term) term {
		r := c.b.Alloc()
		c.compare(program.Equal, r, base, when)
		when.reg = r
		return when
	})
}

// cases writes the value of the first case whose condition is true to d. Condition makes one of
// what stands behind WHEN.
func (c *compiler) cases(d program.Reg, args []*syntax.Expr, terms []term, condition func(when term) term) (term, error) {
	top := c.b.Mark()
	var ends []program.Jump
	for ; len(args) > 1; args = args[2:] {
		when, err := c.compile(args[0])
		if err != nil {
			return when, err
		}
		terms = append(terms, when)
		next := c.b.JumpNotTrue(condition(when).reg)
		c.b.Release(top)
		then, err := c.compile(args[1])
		if err != nil {
			return then, err
		}
		terms = append(terms, then)
		c.b.Move(d, then.reg)
		c.b.Release(top)
		ends = append(ends, c.b.Jump())
		c.b.Land(next)
	}
	otherwise := c.constant(record.Value{})
	if len(args) == 1 {
		var err error
		if otherwise, err = c.compile(args[0]); err != nil {
			return otherwise, err
		}
		terms = append(terms, otherwise)
	}
	c.b.Move(d, otherwise.reg)
	c.b.Land(ends...)
	c.b.Release(d + 1)
	return inherit(term{reg: d, affinity: value.NoAffinity}, terms...), nil
}

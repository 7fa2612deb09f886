package expr

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/value"
)

// operations are the operators of two operands that look at neither collations nor affinities.
var operations = map[string]program.Op{
	"+": program.Add, "-": program.Subtract, "*": program.Multiply, "/": program.Divide, "%": program.Remainder,
	"&": program.BitAnd, "|": program.BitOr, "<<": program.ShiftLeft, ">>": program.ShiftRight, "||": program.Concat,
}

// comparisons compare two values.
var comparisons = map[string]program.Op{
	"=": program.Equal, "<>": program.NotEqual, "<": program.Less, "<=": program.LessEqual, ">": program.Greater,
	">=": program.GreaterEqual, "IS": program.Is, "IS NOT": program.IsNot,
}

// prefix is one of + - ~ NOT and its operand.
func (c *compiler) prefix(n *ddl.Node) (term, error) {
	inner := n.Args[0]
	if n.Text == "-" {
		for inner.Op == ddl.OpPrefix && inner.Text == "+" {
			inner = inner.Args[0]
		}
		if inner.Op == ddl.OpNumber {
			return c.literal(inner.Text, true)
		}
	}
	if n.Text == "+" {
		x, err := c.compile(inner)
		x.affinity = value.NoAffinity
		return x, err
	}
	return c.unary(inner, map[string]program.Op{"-": program.Negate, "~": program.Complement, "NOT": program.Not}[n.Text])
}

// unary is an operation on one operand.
func (c *compiler) unary(n *ddl.Node, op program.Op) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n)
	if err != nil {
		return x, err
	}
	d := c.free(mark)
	c.b.Unary(op, d, x.reg, value.NoAffinity)
	return inherit(term{reg: d, affinity: value.NoAffinity}, x), nil
}

// infix is an operator between two operands.
func (c *compiler) infix(n *ddl.Node) (term, error) {
	switch n.Text {
	case "AND", "OR":
		return c.logic(n)
	case "IS", "IS NOT":
		right := n.Args[1]
		for right.Op == ddl.OpCollate {
			right = right.Args[0]
		}
		if truth, ok := truthOf(right); ok && c.table.ColumnIndex(right.Text) < 0 {
			return c.unary(n.Args[0], truthTest(truth, n.Text == "IS"))
		}
	}
	mark := c.b.Mark()
	x, err := c.compile(n.Args[0])
	if err != nil {
		return x, err
	}
	y, err := c.compile(n.Args[1])
	if err != nil {
		return y, err
	}
	d := c.free(mark)
	if op, ok := operations[n.Text]; ok {
		c.b.Binary(op, d, x.reg, y.reg)
	} else if op, ok := comparisons[n.Text]; ok {
		c.compare(op, d, x, y)
	} else {
		return term{}, fmt.Errorf("the operator %s", n.Text)
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
func (c *compiler) logic(n *ddl.Node) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Args[0])
	if err != nil {
		return x, err
	}
	op, decided, jump := program.And, c.b.Constant(record.OfInt(0)), c.b.JumpFalse
	if n.Text == "OR" {
		op, decided, jump = program.Or, c.b.Constant(record.OfInt(1)), c.b.JumpTrue
	}
	short := jump(x.reg)
	y, err := c.compile(n.Args[1])
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
func (c *compiler) between(n *ddl.Node) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Args[0])
	if err != nil {
		return x, err
	}
	top := c.b.Mark()
	low, err := c.compile(n.Args[1])
	if err != nil {
		return low, err
	}
	above := c.free(top)
	c.compare(program.GreaterEqual, above, x, low)
	short := c.b.JumpFalse(above)
	top = c.b.Mark()
	high, err := c.compile(n.Args[2])
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
func (c *compiler) in(n *ddl.Node) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Args[0])
	if err != nil {
		return x, err
	}
	terms := []term{x}
	if list := n.Args[1:]; len(list) == 1 && isConstant(list[0]) { // which SQLite makes x = +value of
		y, err := c.compile(list[0])
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
	for _, item := range n.Args[1:] {
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

// isConstant reports whether SQLite takes a node for a constant while it parses: without names and
// functions.
func isConstant(n *ddl.Node) bool {
	switch n.Op {
	case ddl.OpName:
		_, ok := truthOf(n)
		return ok
	case ddl.OpMember, ddl.OpCall, ddl.OpLike:
		return false
	}
	for _, a := range n.Args {
		if !isConstant(a) {
			return false
		}
	}
	return true
}

// like is x [NOT] LIKE pattern [ESCAPE character], or GLOB.
func (c *compiler) like(n *ddl.Node) (term, error) {
	p := function.Like()
	switch {
	case n.Text == "GLOB":
		if p = function.Glob(); len(n.Args) == 3 {
			return term{}, errors.New("GLOB with ESCAPE")
		}
	case n.Text != "LIKE":
		return term{}, fmt.Errorf("the operator %s", n.Text)
	}
	if len(n.Args) == 3 && (n.Args[2].Op != ddl.OpString || !p.SetEscape([]byte(n.Args[2].Text))) {
		return term{}, errors.New("ESCAPE with anything but a character")
	}
	x, err := c.calling(n.Args[:2], func(args []record.Value) (record.Value, error) { return p.Match(args[1], args[0]) })
	return c.negated(x, n.Not), err
}

// cast is CAST.
func (c *compiler) cast(n *ddl.Node) (term, error) {
	mark := c.b.Mark()
	x, err := c.compile(n.Args[0])
	if err != nil {
		return x, err
	}
	d, to := c.free(mark), value.Affinity(n.Affinity)
	c.b.Unary(program.Cast, d, x.reg, to)
	return term{reg: d, affinity: to, collation: x.collation, explicit: x.explicit}, nil
}

// caseOf is CASE: with a base, which each WHEN is compared with, pairs of a condition and its
// value, and the value of ELSE.
func (c *compiler) caseOf(n *ddl.Node) (term, error) {
	args := n.Args
	d := c.b.Alloc()
	var base term
	var terms []term
	if n.Based {
		var err error
		if base, err = c.compile(args[0]); err != nil {
			return base, err
		}
		args, terms = args[1:], append(terms, base)
	}
	return c.cases(d, args, terms, func(when term) term {
		if n.Based {
			r := c.b.Alloc()
			c.compare(program.Equal, r, base, when)
			when.reg = r
		}
		return when
	})
}

// cases writes the value of the first case whose condition is true to d. Condition makes one of
// what stands behind WHEN.
func (c *compiler) cases(d program.Reg, args []*ddl.Node, terms []term, condition func(when term) term) (term, error) {
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

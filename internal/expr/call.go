package expr

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// call is a function with its arguments. Some evaluate only some of them, or look at collations.
func (c *compiler) call(n *syntax.Expr) (term, error) {
	if n.Call != nil {
		return term{}, fmt.Errorf("the function %s as an aggregate or over a window", n.Text)
	}
	name := strings.ToLower(n.Text)
	switch args := len(n.List); {
	case name == "coalesce" && args >= 2, name == "ifnull" && args == 2:
		return c.coalesce(n.List)
	case (name == "iif" || name == "if") && args >= 2:
		return c.cases(c.b.Alloc(), n.List, nil, func(when term) term { return when })
	case (name == "likely" || name == "unlikely") && args == 1:
		x, err := c.compile(n.List[0])
		return inherit(term{reg: x.reg, affinity: value.NoAffinity}, x), err
	case name == "nullif" && args == 2:
		return c.collated(n.List, function.Nullif)
	case name == "min" && args >= 2:
		return c.collated(n.List, function.Min)
	case name == "max" && args >= 2:
		return c.collated(n.List, function.Max)
	}
	f, ok := function.Everywhere[name]
	if !ok || len(n.List) < f.Least || f.Most >= 0 && len(n.List) > f.Most {
		if _, _, err := c.args(n.List); err != nil { // which tells more
			return term{}, err
		}
		return term{}, fmt.Errorf("the function %s with %d arguments", n.Text, len(n.List))
	}
	return c.calling(n.List, f.Call)
}

// args evaluates arguments into registers that follow each other.
func (c *compiler) args(nodes []*syntax.Expr) (first program.Reg, terms []term, err error) {
	first = c.b.Mark()
	for _, n := range nodes {
		mark := c.b.Mark()
		x, err := c.compile(n)
		if err != nil {
			return 0, nil, err
		}
		terms = append(terms, x)
		c.b.Move(c.free(mark), x.reg)
	}
	return first, terms, nil
}

// calling is a function of values.
func (c *compiler) calling(nodes []*syntax.Expr, fn program.Func) (term, error) {
	return c.collated(nodes, func(value.Collation) func([]record.Value) (record.Value, error) { return fn })
}

// collated is a function that compares texts by the collation of the first argument that has one.
func (c *compiler) collated(nodes []*syntax.Expr, by func(order value.Collation) func([]record.Value) (record.Value, error)) (term, error) {
	mark := c.b.Mark()
	first, terms, err := c.args(nodes)
	if err != nil {
		return term{}, err
	}
	d := c.free(mark)
	c.b.Call(by(firstCollation(terms)), d, first, len(nodes))
	return inherit(term{reg: d, affinity: value.NoAffinity}, terms...), nil
}

// firstCollation returns the collation of the first argument that has one.
func firstCollation(args []term) value.Collation {
	for _, a := range args {
		if a.collation != value.NoCollation {
			return a.collation
		}
	}
	return value.NoCollation
}

// coalesce is the first value that is not NULL.
func (c *compiler) coalesce(nodes []*syntax.Expr) (term, error) {
	d := c.b.Alloc()
	var terms []term
	var found []program.Jump
	for _, n := range nodes {
		x, err := c.compile(n)
		if err != nil {
			return x, err
		}
		terms = append(terms, x)
		c.b.Move(d, x.reg)
		c.b.Release(d + 1)
		found = append(found, c.b.JumpNotNull(d))
	}
	c.b.Land(found...)
	return inherit(term{reg: d, affinity: value.NoAffinity}, terms...), nil
}

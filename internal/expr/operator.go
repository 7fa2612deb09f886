package expr

import (
	"errors"
	"fmt"
	"math"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/ddl"
)

// prefix is one of + - ~ NOT and its operand.
func (c *compiler) prefix(n *ddl.Node) (term, error) {
	inner := n.Args[0]
	if n.Text == "-" {
		for inner.Op == ddl.OpPrefix && inner.Text == "+" {
			inner = inner.Args[0]
		}
		if inner.Op == ddl.OpNumber {
			return literal(inner.Text, true)
		}
	}
	x, err := c.compile(inner)
	if err != nil {
		return x, err
	}
	if n.Text == "+" {
		x.affinity = value.NoAffinity
		return x, nil
	}
	fn := map[string]func(record.Value) record.Value{"-": value.Negate, "~": value.Complement, "NOT": not}[n.Text]
	return inherit(term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		v, err := x.eval(row)
		if err != nil || v.Kind() == record.Null {
			return record.Value{}, err
		}
		return fn(v), nil
	}}, x), nil
}

func not(v record.Value) record.Value { return value.OfBool(!value.True(v)) }

// arithmetic holds the operators whose operands are not NULL, and none of which looks at collations
// or affinities.
var arithmetic = map[string]func(a, b record.Value) record.Value{
	"+": value.Add, "-": value.Subtract, "*": value.Multiply, "/": value.Divide, "%": value.Remainder,
	"&": func(a, b record.Value) record.Value { return record.OfInt(value.Integer(a) & value.Integer(b)) },
	"|": func(a, b record.Value) record.Value { return record.OfInt(value.Integer(a) | value.Integer(b)) },
	"<<": func(a, b record.Value) record.Value {
		return record.OfInt(value.Shift(value.Integer(a), value.Integer(b)))
	},
	">>": func(a, b record.Value) record.Value {
		return record.OfInt(value.Shift(value.Integer(a), -max(value.Integer(b), -math.MaxInt64)))
	},
}

// comparisons says for which orders of its operands an operator is true.
var comparisons = map[string]func(order int) bool{
	"=":  func(order int) bool { return order == 0 },
	"<>": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// infix is an operator between two operands.
func (c *compiler) infix(n *ddl.Node) (term, error) {
	if n.Text == "IS" || n.Text == "IS NOT" {
		return c.is(n)
	}
	args, err := c.args(n.Args)
	if err != nil {
		return term{}, err
	}
	a, b := args[0], args[1]
	switch n.Text {
	case "AND":
		return inherit(and(a, b), a, b), nil
	case "OR":
		return inherit(or(a, b), a, b), nil
	case "||":
		return inherit(binaryTerm(a, b, value.Concat), a, b), nil
	}
	if fn, ok := arithmetic[n.Text]; ok {
		return inherit(binaryTerm(a, b, func(x, y record.Value) (record.Value, error) { return fn(x, y), nil }), a, b), nil
	}
	if fn, ok := comparisons[n.Text]; ok {
		return inherit(compareTerm(a, b, fn), a, b), nil
	}
	return term{}, fmt.Errorf("the operator %s", n.Text)
}

// binaryTerm is an operator that is NULL where one of its operands is.
func binaryTerm(a, b term, fn func(x, y record.Value) (record.Value, error)) term {
	return term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		x, y, err := both(a, b, row)
		if err != nil || x.Kind() == record.Null || y.Kind() == record.Null {
			return record.Value{}, err
		}
		return fn(x, y)
	}}
}

// both evaluates two terms.
func both(a, b term, row Row) (x, y record.Value, err error) {
	if x, err = a.eval(row); err == nil {
		y, err = b.eval(row)
	}
	return x, y, err
}

// compareTerm is a comparison.
func compareTerm(a, b term, is func(order int) bool) term {
	as, order := value.Comparison(a.affinity, b.affinity), compared(a, b)
	return binaryTerm(a, b, func(x, y record.Value) (record.Value, error) {
		return value.OfBool(is(value.CompareAs(x, y, as, order))), nil
	})
}

// is is IS or IS NOT, which take NULL for a value, and TRUE and FALSE for a question.
func (c *compiler) is(n *ddl.Node) (term, error) {
	a, err := c.compile(n.Args[0])
	if err != nil {
		return a, err
	}
	want := n.Text == "IS"
	right := n.Args[1]
	for right.Op == ddl.OpCollate {
		right = right.Args[0]
	}
	if truth, ok := truthOf(right); ok && c.table.ColumnIndex(right.Text) < 0 {
		return isTruth(a, truth, want), nil
	}
	b, err := c.compile(n.Args[1])
	if err != nil {
		return b, err
	}
	as, order := value.Comparison(a.affinity, b.affinity), compared(a, b)
	return inherit(term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		x, y, err := both(a, b, row)
		if err != nil {
			return record.Value{}, err
		}
		same := x.Kind() == record.Null && y.Kind() == record.Null
		if x.Kind() != record.Null && y.Kind() != record.Null {
			same = value.CompareAs(x, y, as, order) == 0
		}
		return value.OfBool(same == want), nil
	}}, a, b), nil
}

// isTruth is IS [NOT] TRUE or FALSE.
func isTruth(a term, truth, want bool) term {
	return inherit(term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		v, err := a.eval(row)
		is := v.Kind() != record.Null && value.True(v) == truth
		return value.OfBool(is == want), err
	}}, a)
}

// and stops where the left operand is false.
func and(a, b term) term {
	return term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		x, err := a.eval(row)
		if err != nil || value.False(x) {
			return record.OfInt(0), err
		}
		y, err := b.eval(row)
		switch {
		case err != nil || value.False(y):
			return record.OfInt(0), err
		case x.Kind() == record.Null || y.Kind() == record.Null:
			return record.Value{}, nil
		}
		return record.OfInt(1), nil
	}}
}

// or stops where the left operand is true.
func or(a, b term) term {
	return term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		x, err := a.eval(row)
		if err != nil || value.True(x) {
			return record.OfInt(1), err
		}
		y, err := b.eval(row)
		switch {
		case err != nil || value.True(y):
			return record.OfInt(1), err
		case x.Kind() == record.Null || y.Kind() == record.Null:
			return record.Value{}, nil
		}
		return record.OfInt(0), nil
	}}
}

func isNull(x term, not bool) term {
	return inherit(term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		v, err := x.eval(row)
		return value.OfBool((v.Kind() == record.Null) != not), err
	}}, x)
}

// negated is a term, or NOT before it.
func negated(x term, yes bool) term {
	if !yes {
		return x
	}
	return term{affinity: value.NoAffinity, collation: x.collation, explicit: x.explicit, eval: func(row Row) (record.Value, error) {
		v, err := x.eval(row)
		if err != nil || v.Kind() == record.Null {
			return record.Value{}, err
		}
		return not(v), nil
	}}
}

// between is x >= low AND x <= high.
func between(args []term, not bool) term {
	x := and(compareTerm(args[0], args[1], comparisons[">="]), compareTerm(args[0], args[2], comparisons["<="]))
	return negated(inherit(x, args...), not)
}

// in is x IN (list). The values of the list get the affinity of x and are compared by its
// collation.
func in(args []term, n *ddl.Node) term {
	x, list := args[0], args[1:]
	if len(list) == 1 && isConstant(n.Args[1]) { // which SQLite makes x = +value of
		list[0].affinity = value.NoAffinity
		return negated(inherit(compareTerm(x, list[0], comparisons["="]), args...), n.Not)
	}
	return negated(inherit(term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) { return contains(x, list, row) }}, args...), n.Not)
}

func contains(x term, list []term, row Row) (record.Value, error) {
	v, err := x.eval(row)
	if err != nil {
		return record.Value{}, err
	}
	null := v.Kind() == record.Null
	for _, y := range list {
		w, err := y.eval(row)
		if err != nil {
			return record.Value{}, err
		}
		if w.Kind() == record.Null || v.Kind() == record.Null {
			null = true
		} else if value.CompareAs(v, w, x.affinity, x.collation) == 0 {
			return record.OfInt(1), nil
		}
	}
	if null {
		return record.Value{}, nil
	}
	return record.OfInt(0), nil
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
func like(args []term, n *ddl.Node) (term, error) {
	p := function.Like()
	switch {
	case n.Text == "GLOB":
		if p = function.Glob(); len(args) == 3 {
			return term{}, errors.New("GLOB with ESCAPE")
		}
	case n.Text != "LIKE":
		return term{}, fmt.Errorf("the operator %s", n.Text)
	}
	if len(args) == 3 && (n.Args[2].Op != ddl.OpString || !p.SetEscape([]byte(n.Args[2].Text))) {
		return term{}, errors.New("ESCAPE with anything but a character")
	}
	return negated(inherit(calling([]term{args[1], args[0]}, p.Match), args...), n.Not), nil
}

// castTo is CAST.
func castTo(x term, to ddl.Affinity) term {
	return term{affinity: value.Affinity(to), collation: x.collation, explicit: x.explicit, eval: func(row Row) (record.Value, error) {
		v, err := x.eval(row)
		return value.Cast(v, to), err
	}}
}

// caseWhen is CASE without a base: pairs of a condition and its value, and the value of ELSE.
func caseWhen(args []term) term {
	return inherit(term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		i := 0
		for ; i+1 < len(args); i += 2 {
			v, err := args[i].eval(row)
			if err != nil {
				return record.Value{}, err
			}
			if value.True(v) {
				return args[i+1].eval(row)
			}
		}
		if i == len(args) {
			return record.Value{}, nil
		}
		return args[i].eval(row)
	}}, args...)
}

// caseOf is CASE with a base, which each WHEN is compared with.
func caseOf(args []term) term {
	rest := append([]term(nil), args[1:]...)
	for i := 0; i+1 < len(rest); i += 2 {
		rest[i] = compareTerm(args[0], rest[i], comparisons["="])
	}
	return inherit(caseWhen(rest), args...)
}

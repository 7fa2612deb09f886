package expr

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/foliofs/folio/internal/ddl"
)

// maxSize is SQLite's limit on the bytes of a value.
const maxSize = 1_000_000_000

var errTooBig = errors.New("string or blob too big")

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
		x.affinity = none
		return x, nil
	}
	fn := map[string]func(Value) Value{"-": negate, "~": complement, "NOT": not}[n.Text]
	return inherit(term{affinity: none, eval: func(row Row) (Value, error) {
		v, err := x.eval(row)
		if err != nil || v.Kind() == Null {
			return Value{}, err
		}
		return fn(v), nil
	}}, x), nil
}

func negate(v Value) Value     { return subtract(OfInt(0), v) }
func complement(v Value) Value { return OfInt(^integerOf(v)) }
func not(v Value) Value        { return ofBool(!IsTrue(v)) }

// arithmetic holds the operators whose operands are not NULL, and none of which looks at collations
// or affinities.
var arithmetic = map[string]func(a, b Value) Value{
	"+": add, "-": subtract, "*": multiply, "/": divide, "%": remainder,
	"&":  func(a, b Value) Value { return OfInt(integerOf(a) & integerOf(b)) },
	"|":  func(a, b Value) Value { return OfInt(integerOf(a) | integerOf(b)) },
	"<<": func(a, b Value) Value { return OfInt(shift(integerOf(a), integerOf(b))) },
	">>": func(a, b Value) Value { return OfInt(shift(integerOf(a), -max(integerOf(b), -math.MaxInt64))) },
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
		return inherit(binaryTerm(a, b, concat), a, b), nil
	}
	if fn, ok := arithmetic[n.Text]; ok {
		return inherit(binaryTerm(a, b, func(x, y Value) (Value, error) { return fn(x, y), nil }), a, b), nil
	}
	if fn, ok := comparisons[n.Text]; ok {
		return inherit(compareTerm(a, b, fn), a, b), nil
	}
	return term{}, fmt.Errorf("the operator %s", n.Text)
}

// binaryTerm is an operator that is NULL where one of its operands is.
func binaryTerm(a, b term, fn func(x, y Value) (Value, error)) term {
	return term{affinity: none, eval: func(row Row) (Value, error) {
		x, y, err := both(a, b, row)
		if err != nil || x.Kind() == Null || y.Kind() == Null {
			return Value{}, err
		}
		return fn(x, y)
	}}
}

// both evaluates two terms.
func both(a, b term, row Row) (x, y Value, err error) {
	if x, err = a.eval(row); err == nil {
		y, err = b.eval(row)
	}
	return x, y, err
}

// compareTerm is a comparison.
func compareTerm(a, b term, is func(order int) bool) term {
	as, order := comparison(a.affinity, b.affinity), compared(a, b)
	return binaryTerm(a, b, func(x, y Value) (Value, error) { return ofBool(is(compareAs(x, y, as, order))), nil })
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
	as, order := comparison(a.affinity, b.affinity), compared(a, b)
	return inherit(term{affinity: none, eval: func(row Row) (Value, error) {
		x, y, err := both(a, b, row)
		if err != nil {
			return Value{}, err
		}
		same := x.Kind() == Null && y.Kind() == Null
		if x.Kind() != Null && y.Kind() != Null {
			same = compareAs(x, y, as, order) == 0
		}
		return ofBool(same == want), nil
	}}, a, b), nil
}

// isTruth is IS [NOT] TRUE or FALSE.
func isTruth(a term, truth, want bool) term {
	return inherit(term{affinity: none, eval: func(row Row) (Value, error) {
		v, err := a.eval(row)
		is := v.Kind() != Null && IsTrue(v) == truth
		return ofBool(is == want), err
	}}, a)
}

// and stops where the left operand is false.
func and(a, b term) term {
	return term{affinity: none, eval: func(row Row) (Value, error) {
		x, err := a.eval(row)
		if err != nil || IsFalse(x) {
			return OfInt(0), err
		}
		y, err := b.eval(row)
		switch {
		case err != nil || IsFalse(y):
			return OfInt(0), err
		case x.Kind() == Null || y.Kind() == Null:
			return Value{}, nil
		}
		return OfInt(1), nil
	}}
}

// or stops where the left operand is true.
func or(a, b term) term {
	return term{affinity: none, eval: func(row Row) (Value, error) {
		x, err := a.eval(row)
		if err != nil || IsTrue(x) {
			return OfInt(1), err
		}
		y, err := b.eval(row)
		switch {
		case err != nil || IsTrue(y):
			return OfInt(1), err
		case x.Kind() == Null || y.Kind() == Null:
			return Value{}, nil
		}
		return OfInt(0), nil
	}}
}

func concat(a, b Value) (Value, error) {
	x, y := textOf(a), textOf(b)
	if len(x)+len(y) > maxSize {
		return Value{}, errTooBig
	}
	return OfText(append(append(make([]byte, 0, len(x)+len(y)), x...), y...)), nil
}

// Sums and products of integers that have no room in 64 bits are those of floats.

func add(a, b Value) Value {
	a, b = numberOf(a), numberOf(b)
	if sum := a.Int() + b.Int(); a.Kind() == Integer && b.Kind() == Integer && (a.Int()^sum)&(b.Int()^sum) >= 0 {
		return OfInt(sum)
	}
	return OfFloat(floatOf(a) + floatOf(b))
}

func subtract(a, b Value) Value {
	a, b = numberOf(a), numberOf(b)
	if d := a.Int() - b.Int(); a.Kind() == Integer && b.Kind() == Integer && (a.Int()^b.Int())&(a.Int()^d) >= 0 {
		return OfInt(d)
	}
	return OfFloat(floatOf(a) - floatOf(b))
}

func multiply(a, b Value) Value {
	a, b = numberOf(a), numberOf(b)
	if a.Kind() == Integer && b.Kind() == Integer {
		if p, ok := product(a.Int(), b.Int()); ok {
			return OfInt(p)
		}
	}
	return OfFloat(floatOf(a) * floatOf(b))
}

// product returns a*b if that fits.
func product(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	return a * b, high == 0 && low <= limit
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

func divide(a, b Value) Value {
	a, b = numberOf(a), numberOf(b)
	if a.Kind() == Integer && b.Kind() == Integer {
		switch {
		case b.Int() == 0:
			return Value{}
		case b.Int() != -1 || a.Int() != math.MinInt64:
			return OfInt(a.Int() / b.Int())
		}
	}
	if floatOf(b) == 0 {
		return Value{}
	}
	return OfFloat(floatOf(a) / floatOf(b))
}

// remainder is that of the integer parts, a float unless both operands are integers.
func remainder(a, b Value) Value {
	x, y := numberOf(a), numberOf(b)
	whole := x.Kind() == Integer && y.Kind() == Integer
	i, j := x.Int(), y.Int()
	if !whole {
		i, j = integerOf(a), integerOf(b)
	}
	if j == 0 {
		return Value{}
	}
	if j == -1 {
		j = 1
	}
	if whole {
		return OfInt(i % j)
	}
	return OfFloat(float64(i % j))
}

// shift shifts to the left, or by a negative number to the right.
func shift(a, by int64) int64 {
	switch {
	case by >= 64:
		return 0
	case by >= 0:
		return a << by
	case by > -64:
		return a >> -by
	case a < 0:
		return -1
	}
	return 0
}

func isNull(x term, not bool) term {
	return inherit(term{affinity: none, eval: func(row Row) (Value, error) {
		v, err := x.eval(row)
		return ofBool((v.Kind() == Null) != not), err
	}}, x)
}

// negated is a term, or NOT before it.
func negated(x term, yes bool) term {
	if !yes {
		return x
	}
	return term{affinity: none, collation: x.collation, explicit: x.explicit, eval: func(row Row) (Value, error) {
		v, err := x.eval(row)
		if err != nil || v.Kind() == Null {
			return Value{}, err
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
		list[0].affinity = none
		return negated(inherit(compareTerm(x, list[0], comparisons["="]), args...), n.Not)
	}
	return negated(inherit(term{affinity: none, eval: func(row Row) (Value, error) { return contains(x, list, row) }}, args...), n.Not)
}

func contains(x term, list []term, row Row) (Value, error) {
	v, err := x.eval(row)
	if err != nil {
		return Value{}, err
	}
	null := v.Kind() == Null
	for _, y := range list {
		w, err := y.eval(row)
		if err != nil {
			return Value{}, err
		}
		if w.Kind() == Null || v.Kind() == Null {
			null = true
		} else if compareAs(v, w, x.affinity, x.collation) == 0 {
			return OfInt(1), nil
		}
	}
	if null {
		return Value{}, nil
	}
	return OfInt(0), nil
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
	p := likePattern()
	switch {
	case n.Text == "GLOB":
		if p = globPattern(); len(args) == 3 {
			return term{}, errors.New("GLOB with ESCAPE")
		}
	case n.Text != "LIKE":
		return term{}, fmt.Errorf("the operator %s", n.Text)
	}
	if len(args) == 3 && (n.Args[2].Op != ddl.OpString || !p.setEscape([]byte(n.Args[2].Text))) {
		return term{}, errors.New("ESCAPE with anything but a character")
	}
	return negated(inherit(calling([]term{args[1], args[0]}, p.match), args...), n.Not), nil
}

// castTo is CAST.
func castTo(x term, to ddl.Affinity) term {
	return term{affinity: affinity(to), collation: x.collation, explicit: x.explicit, eval: func(row Row) (Value, error) {
		v, err := x.eval(row)
		return castValue(v, to), err
	}}
}

// caseWhen is CASE without a base: pairs of a condition and its value, and the value of ELSE.
func caseWhen(args []term) term {
	return inherit(term{affinity: none, eval: func(row Row) (Value, error) {
		i := 0
		for ; i+1 < len(args); i += 2 {
			v, err := args[i].eval(row)
			if err != nil {
				return Value{}, err
			}
			if IsTrue(v) {
				return args[i+1].eval(row)
			}
		}
		if i == len(args) {
			return Value{}, nil
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

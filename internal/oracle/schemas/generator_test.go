package schemas

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator makes random expressions over columns.
type generator struct {
	*rand.Rand
	columns []string
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// literals are values at the edges of what conversions and comparisons tell apart.
var literals = []string{
	"NULL", "0", "1", "-1", "2", "7", "-5", "10", "100", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "0x7f", "-0x10", "1_000",
	"0.0", "-0.0", "1.0", "1.5", "-2.5", "0.1", "1e3", "1e15", "1e16", "123456789012345678.0", "1e17", "-1e300", "1e308", "1e999", "4.9e-324", "3.0e-5", "0.00012345", "49.47", "1e22", "0.3",
	"''", "'a'", "'A'", "'abc'", "'ABC'", "'b '", "'b'", "'1'", "'1.0'", "'01'", "' 12 '", "'12abc'", "'1e2'", "'-5'", "'+7'", "'.5'", "'5.'", "'0x10'", "'9223372036854775808'", "'é'", "'ÉÀ'", "'日本語'", "'it''s'", "'%'", "'_b%'", "'a*'", "'[a-c]?'",
	"'inf'", "'nan'", "'99999999999999999999'", "'1.7976931348623157e309'", "'3.5e0x'", "'1 2'", "'\t3\n'",
	"x''", "x'31'", "x'3132'", "x'616263'", "x'00'", "x'c3a9'", "x'ff'", "x'312e35'", "TRUE", "FALSE",
}

func (g *generator) expr(depth int) string {
	if depth <= 0 || g.IntN(6) == 0 {
		return g.leaf()
	}
	a := func() string { return g.expr(depth - 1) }
	switch g.IntN(24) {
	case 0, 1:
		return g.operand(depth) + " " + g.pick("+", "-", "*", "/", "%") + " " + g.operand(depth)
	case 2:
		return g.operand(depth) + " " + g.pick("&", "|", "<<", ">>") + " " + g.operand(depth)
	case 3, 4:
		return g.operand(depth) + " || " + g.operand(depth)
	case 5, 6, 7:
		return g.operand(depth) + " " + g.pick("=", "==", "<>", "!=", "<", "<=", ">", ">=") + " " + g.operand(depth)
	case 8:
		return g.operand(depth) + " " + g.pick("IS", "IS NOT", "IS DISTINCT FROM", "IS NOT DISTINCT FROM") + " " + g.operand(depth)
	case 9:
		return g.operand(depth) + " " + g.pick("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "ISNULL", "NOTNULL", "NOT NULL", "IS NULL", "IS NOT NULL")
	case 10, 11:
		return a() + " " + g.pick("AND", "OR") + " " + a()
	case 12:
		return g.pick("NOT ", "-", "+", "~", "- +", "NOT NOT ") + g.operand(depth)
	case 13:
		return g.operand(depth) + g.pick("", " NOT") + " BETWEEN " + g.operand(depth) + " AND " + g.operand(depth)
	case 14:
		return g.operand(depth) + g.pick("", " NOT") + " IN (" + g.list(1+g.IntN(4), depth) + ")"
	case 15:
		return g.operand(depth) + g.pick("", " NOT") + g.pick(" LIKE ", " GLOB ") + g.operand(depth)
	case 16:
		return "(" + g.operand(depth) + g.pick("", " NOT") + " LIKE " + g.operand(depth) + " ESCAPE " + g.pick("'a'", "'%'", "'_'", "'é'") + ")"
	case 17:
		return "CAST(" + a() + " AS " + g.pick("INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "VARCHAR(3)", "DOUBLE", "") + ")"
	case 18:
		return g.operand(depth) + " COLLATE " + g.pick("NOCASE", "BINARY", "RTRIM")
	case 19, 20:
		return g.cases(depth)
	}
	return g.call(depth)
}

func (g *generator) leaf() string {
	if g.IntN(2) == 0 {
		return g.columns[g.IntN(len(g.columns))]
	}
	return literals[g.IntN(len(literals))]
}

// operand is an expression in parentheses, or a short one without.
func (g *generator) operand(depth int) string {
	if depth <= 1 || g.IntN(3) == 0 {
		return g.leaf()
	}
	if g.IntN(8) == 0 {
		return g.expr(depth - 1)
	}
	return "(" + g.expr(depth-1) + ")"
}

func (g *generator) list(n, depth int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = g.expr(depth - 1)
	}
	return strings.Join(list, ", ")
}

func (g *generator) cases(depth int) string {
	var b strings.Builder
	b.WriteString("CASE ")
	if g.IntN(2) == 0 {
		b.WriteString(g.expr(depth-1) + " ")
	}
	for range 1 + g.IntN(2) {
		fmt.Fprintf(&b, "WHEN %s THEN %s ", g.expr(depth-1), g.expr(depth-1))
	}
	if g.IntN(2) == 0 {
		b.WriteString("ELSE " + g.expr(depth-1) + " ")
	}
	return b.String() + "END"
}

func (g *generator) call(depth int) string {
	switch g.IntN(4) {
	case 0:
		return g.pick("length", "lower", "upper", "hex", "typeof", "unicode", "quote", "trim", "ltrim", "rtrim", "round", "abs", "likely", "unlikely") + "(" + g.list(1, depth) + ")"
	case 1:
		return g.pick("substr", "ifnull", "nullif", "instr", "trim", "ltrim", "rtrim", "round", "min", "max", "coalesce", "like", "glob") + "(" + g.list(2, depth) + ")"
	case 2:
		return g.pick("substr", "substring", "coalesce", "iif", "min", "max", "replace") + "(" + g.list(3, depth) + ")"
	}
	return fmt.Sprintf("substr(%s, %d, %d)", g.expr(depth-1), g.IntN(9)-4, g.IntN(9)-4)
}

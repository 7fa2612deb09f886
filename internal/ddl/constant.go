package ddl

import (
	"math"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// An evaluator computes the value of a DEFAULT, if that is made of literals, signs and CAST. It
// stops, and the default stays text, at anything else and where the result would depend on the
// encoding of the database or on how SQLite prints a number.
type evaluator struct {
	insert bool // for an insertion, rather than for a row that is older than the column
}

// truth returns TRUE or FALSE as a value.
func truth(word string, a Affinity) Default {
	v := Default{Kind: DefaultInteger}
	if EqualFold(word, "true") {
		v.Int = 1
	}
	v.apply(a)
	return v
}

func stringConstant(s string, a Affinity) Default {
	v := Default{Kind: DefaultText, Text: s}
	v.apply(a)
	return v
}

// value evaluates signs and their operand. SQLite gives each step the affinity, and takes a minus
// directly before a number, or before parentheses around it, for a part of the number; negative
// says that such a minus came before.
func (ev *evaluator) value(e *syntax.Expr, a Affinity, negative bool) (v Default, ok bool) {
	negations := 0
	for ; e.Op == syntax.OpPlus || e.Op == syntax.OpMinus; e = e.Left {
		if negative {
			negations++
		}
		negative = e.Op == syntax.OpMinus
	}
	v, ok = ev.operand(e, a, negative)
	for i := 0; ok && i < negations; i++ {
		ok = ev.negate(&v, a)
	}
	return v, ok
}

// negate applies a minus that is not part of a literal. An insertion subtracts from zero; the other
// minus reads a number out of a text first, and is not ours to tell for an insertion.
func (ev *evaluator) negate(v *Default, a Affinity) bool {
	if ev.insert {
		return v.subtract()
	}
	return v.negate(a)
}

// operand evaluates a literal or a CAST and applies the minus before it.
func (ev *evaluator) operand(e *syntax.Expr, a Affinity, negative bool) (v Default, ok bool) {
	switch e.Op {
	case syntax.OpInteger, syntax.OpFloat:
		return ev.number(e.Text, a, negative)
	case syntax.OpString:
		v = stringConstant(e.Text, a)
	case syntax.OpBlob:
		v = Default{Kind: DefaultBlob, Text: string(e.Bytes())}
	case syntax.OpNull, syntax.OpParameter: // old versions let a parameter into a schema, as NULL
		v = Default{Kind: DefaultNull}
	case syntax.OpCast:
		if v, ok = ev.cast(e, a); !ok {
			return v, false
		}
	case syntax.OpColumn: // a word without parentheses: TRUE, FALSE or, whatever else it is, a string (Q13)
		if isTruth(e) {
			v = truth(e.Text, a)
		} else {
			v = stringConstant(e.Text, a)
		}
	default:
		return v, false
	}
	return v, !negative || ev.negate(&v, a)
}

// cast evaluates CAST.
func (ev *evaluator) cast(e *syntax.Expr, a Affinity) (v Default, ok bool) {
	to := AffinityOf(e.Text)
	within := to
	if ev.insert {
		within = AffinityBlob
	}
	if v, ok = ev.value(e.Left, within, false); !ok || !v.cast(to) {
		return v, false
	}
	return v, v.apply(a)
}

// number evaluates a numeric literal. With an affinity that is not Blob it counts as text to begin with
// (Q13).
func (ev *evaluator) number(text string, a Affinity, negative bool) (v Default, ok bool) {
	if len(text) > 2 && text[1]|0x20 == 'x' {
		v = hexadecimal(text)
		if ev.insert && (v.Kind != DefaultInteger || negative && v.Int == math.MinInt64) {
			return v, false // SQLite refuses the insertion: hex literal too big
		}
		v.apply(a)
		return v, !negative || ev.negate(&v, a)
	}
	isInteger := strings.Trim(text, "0123456789") == ""
	if negative {
		text = "-" + text
	}
	v = Default{Kind: DefaultText, Text: text}
	if i, ok := parseInteger(text); isInteger && ok {
		v.setInteger(i)
		v.apply(a)
		return v, true
	}
	switch {
	case a != AffinityBlob:
		v.apply(a)
	case isInteger:
		v.apply(AffinityNumeric)
	default:
		v.setReal(numberPrefix(text).real())
	}
	return v, true
}

// hexadecimal returns the 64 bits that the literal spells. SQLite keeps a longer one as text.
func hexadecimal(text string) Default {
	u, err := strconv.ParseUint(text[2:], 16, 64)
	if err != nil {
		return Default{Kind: DefaultText, Text: text}
	}
	return Default{Kind: DefaultInteger, Int: int64(u)}
}

// settle turns a constant into a value with the affinity of the column.
func (d *Default) settle(a Affinity) {
	if d.Kind != DefaultExpr {
		return
	}
	v, ok := new(evaluator).value(d.tree, a, false)
	if !ok {
		return
	}
	if a == AffinityReal && v.Kind == DefaultInteger {
		v.setReal(float64(v.Int))
	}
	v.Expr, v.tree = d.Expr, d.tree
	*d = v
}

// Inserted returns the value of a row that is inserted without the column, before the affinity of
// the column is applied. It differs from d, which is for rows that are older than the column: for
// example, DEFAULT 1e3 of a TEXT column is '1000.0' in a new row and '1e3' in an old one. ok
// reports whether the default is a constant and its value is known.
func (d *Default) Inserted() (v Default, ok bool) {
	if d.Kind == DefaultNone {
		return *d, true
	}
	ev := evaluator{insert: true}
	if v, ok = ev.value(d.tree, AffinityBlob, false); ok {
		v.Expr, v.tree = d.Expr, d.tree
	}
	return v, ok
}

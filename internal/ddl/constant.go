package ddl

import (
	"math"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// An evaluator computes the value of a DEFAULT, if that is made of literals, signs and CAST. It
// stops at anything else, and where the result would depend on the encoding of the database.
type evaluator struct {
	insert bool // for an insertion, rather than for a row that is older than the column
}

// value evaluates signs and their operand. SQLite gives each step the affinity, and takes a minus
// directly before a number, or before parentheses around it, for a part of the number; negative
// says that such a minus came before.
func (ev *evaluator) value(e *syntax.Expr, a value.Affinity, negative bool) (v record.Value, ok bool) {
	negations := 0
	for ; e.Op == syntax.OpPlus || e.Op == syntax.OpMinus; e = e.Left {
		if negative {
			negations++
		}
		negative = e.Op == syntax.OpMinus
	}
	v, ok = ev.operand(e, a, negative)
	for i := 0; ok && i < negations; i++ {
		v, ok = ev.negate(v, a)
	}
	return v, ok
}

// operand evaluates a literal or a CAST and applies the minus before it.
func (ev *evaluator) operand(e *syntax.Expr, a value.Affinity, negative bool) (v record.Value, ok bool) {
	switch e.Op {
	case syntax.OpInteger, syntax.OpFloat:
		return ev.number(e.Text, a, negative)
	case syntax.OpString:
		v = stepped(record.OfText([]byte(e.Text)), a)
	case syntax.OpBlob:
		v = record.OfBlob(e.Bytes())
	case syntax.OpNull, syntax.OpParameter: // old versions let a parameter into a schema, as NULL
	case syntax.OpCast:
		if v, ok = ev.cast(e, a); !ok {
			return v, false
		}
	case syntax.OpColumn: // a word without parentheses: TRUE, FALSE or, whatever else it is, a string (Q13)
		v = record.OfText([]byte(e.Text))
		if truth, ok := e.Truth(); ok {
			v = value.OfBool(truth)
		}
		v = stepped(v, a)
	default:
		return v, false
	}
	if negative {
		return ev.negate(v, a)
	}
	return v, true
}

// stepped gives the result of a step the affinity. Integers in a REAL column stay as they are until
// the last.
func stepped(v record.Value, a value.Affinity) record.Value {
	if a == value.AffinityReal {
		a = value.AffinityNumeric
	}
	return value.Apply(v, a)
}

// number evaluates a numeric literal. With an affinity that is not Blob it counts as text to begin
// with (Q13).
func (ev *evaluator) number(text string, a value.Affinity, negative bool) (v record.Value, ok bool) {
	if len(text) > 2 && text[1]|0x20 == 'x' {
		u, err := strconv.ParseUint(text[2:], 16, 64)
		switch {
		case ev.insert && (err != nil || negative && u == 1<<63):
			return v, false // SQLite refuses the insertion: hex literal too big
		case err != nil: // a text in a row that is older
			v = stepped(record.OfText([]byte(text)), a)
		default:
			v = stepped(record.OfInt(int64(u)), a)
		}
		if negative {
			return ev.negate(v, a)
		}
		return v, true
	}
	isInteger := strings.Trim(text, "0123456789") == ""
	if negative {
		text = "-" + text
	}
	if i, err := strconv.ParseInt(text, 10, 64); isInteger && err == nil {
		return stepped(record.OfInt(i), a), true
	}
	v = record.OfText([]byte(text))
	switch {
	case a != value.AffinityBlob:
		v = stepped(v, a)
	case isInteger:
		v = stepped(v, value.AffinityNumeric)
	default:
		v = record.OfFloat(value.Float(v))
	}
	return v, true
}

// negate applies a minus that is not part of a literal. For an old row SQLite reads a number out of
// a text first. An insertion subtracts from zero; the result for a text is not known here, and
// the sign of a real zero depends on how much the parser simplifies.
func (ev *evaluator) negate(v record.Value, a value.Affinity) (record.Value, bool) {
	known := true
	if ev.insert {
		known = v.Kind() != record.Text && v.Kind() != record.Blob && !(v.Kind() == record.Float && v.Float() == 0)
	} else {
		v = value.Cast(v, value.AffinityNumeric)
	}
	switch {
	case v.Kind() == record.Float:
		v = record.OfFloat(-v.Float())
	case v.Kind() == record.Integer && v.Int() == math.MinInt64:
		v = record.OfFloat(-float64(v.Int()))
	case v.Kind() == record.Integer:
		v = record.OfInt(-v.Int())
	}
	if !ev.insert {
		v = stepped(v, a)
	}
	return v, known
}

// cast evaluates CAST. Between a text and a BLOB its result depends on the encoding of the
// database.
func (ev *evaluator) cast(e *syntax.Expr, a value.Affinity) (v record.Value, ok bool) {
	to := AffinityOf(e.Text)
	within := to
	if ev.insert {
		within = value.AffinityBlob
	}
	if v, ok = ev.value(e.Left, within, false); !ok {
		return v, false
	}
	isBlob := v.Kind() == record.Blob
	if v.Kind() != record.Null && (isBlob || to == value.AffinityBlob) && (!isBlob || to != value.AffinityBlob) {
		return v, false
	}
	return stepped(value.Cast(v, to), a), true
}

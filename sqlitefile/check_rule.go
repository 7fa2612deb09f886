package sqlitefile

import (
	"bytes"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// A columnRule is the rule that the values of a column must keep.
type columnRule struct {
	name     string
	column   int
	field    int // none for a virtual column
	notNull  bool
	kinds    uint8 // bit k: values of Kind k are allowed
	numeric  bool  // texts that look like a number are not: they would have been stored as one
	computed bool  // in a record that is too short the value is not known
}

const allKinds = 1<<record.Null | 1<<record.Integer | 1<<record.Float | 1<<record.Text | 1<<record.Blob

// strictKinds lists the storage classes that the columns of a STRICT table may hold.
var strictKinds = [...]uint8{
	ddl.Custom:  allKinds,
	ddl.Any:     allKinds,
	ddl.Blob:    1<<record.Null | 1<<record.Blob,
	ddl.Int:     1<<record.Null | 1<<record.Integer,
	ddl.Integer: 1<<record.Null | 1<<record.Integer,
	ddl.Real:    1<<record.Null | 1<<record.Integer | 1<<record.Float,
	ddl.Text:    1<<record.Null | 1<<record.Text,
}

// columnRules returns the rules of those columns of a table that have any.
func columnRules(def *tableDef) []columnRule {
	var rules []columnRule
	for i := range def.ddl.Columns {
		c, field := &def.ddl.Columns[i], def.shape.fields[i].field
		if i == def.shape.alias {
			continue
		}
		r := columnRule{
			name: c.Name, column: i, field: field,
			notNull: c.NotNull, kinds: allKinds, computed: c.Default.Kind == ddl.DefaultExpr,
		}
		switch {
		case def.ddl.Strict:
			r.kinds = strictKinds[c.Standard]
		case field == none: // virtual: it was given its affinity
		case c.Affinity == value.AffinityText:
			r.kinds = 1<<record.Null | 1<<record.Text | 1<<record.Blob
		default:
			r.numeric = c.Affinity >= value.AffinityNumeric
		}
		if r.notNull || r.numeric || r.kinds != allKinds {
			rules = append(rules, r)
		}
	}
	return rules
}

// broken says how v breaks the rule, or nothing.
func (r *columnRule) broken(v *record.Value) string {
	switch {
	case v.Kind() == record.Null && r.notNull:
		return "NULL in column " + r.name
	case r.kinds>>v.Kind()&1 == 0:
		return "a value of kind " + v.Kind().String() + " in column " + r.name
	case r.numeric && v.Kind() == record.Text && isNumber(v):
		return "a text that should be a number in column " + r.name
	}
	return ""
}

// isNumber reports whether the whole of a text is a decimal number, with space around it: SQLite
// stores such a text as a number if the column prefers numbers.
func isNumber(v *record.Value) bool {
	b := v.Bytes()
	if v.Enc() > format.UTF8 {
		b = record.UTF8Of(b, v.Enc())
	}
	b = bytes.Trim(b, " \t\n\v\f\r")
	b = trimSign(b)
	whole, b := trimDigits(b)
	fraction := 0
	if len(b) > 0 && b[0] == '.' {
		fraction, b = trimDigits(b[1:])
	}
	if whole+fraction == 0 {
		return false
	}
	if len(b) == 0 || b[0] != 'e' && b[0] != 'E' {
		return len(b) == 0
	}
	exponent, b := trimDigits(trimSign(b[1:]))
	return exponent > 0 && len(b) == 0
}

func trimSign(b []byte) []byte {
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		return b[1:]
	}
	return b
}

func trimDigits(b []byte) (n int, rest []byte) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n, b[n:]
}

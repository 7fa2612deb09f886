// Package ours reads with the engine and returns the results in the judge's terms.
package ours

import (
	"unicode/utf16"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// Value converts v to a value of the judge. It shares the bytes of v, which are valid until the
// transaction ends.
func Value(v sqlitefile.Value) judge.Value {
	switch v.Kind() {
	case sqlitefile.KindInteger:
		return judge.Value{Kind: judge.Integer, Int: v.Int64()}
	case sqlitefile.KindFloat:
		return judge.Value{Kind: judge.Real, Real: v.Float64()}
	case sqlitefile.KindText:
		return judge.Value{Kind: judge.Text, Bytes: v.Bytes()}
	case sqlitefile.KindBlob:
		return judge.Value{Kind: judge.Blob, Bytes: v.Bytes()}
	}
	return judge.Value{}
}

// AppendRow appends the values of the columns of row for which stored is true.
func AppendRow(dst []judge.Value, row *sqlitefile.Row, stored func(column int) bool) ([]judge.Value, error) {
	for i := range row.Len() {
		if !stored(i) {
			continue
		}
		v, err := row.Value(i)
		if err != nil {
			return dst, err
		}
		dst = append(dst, Value(v))
	}
	return dst, nil
}

// Key is v as an argument for the engine and for a statement: a text becomes UTF-8 from the named
// encoding.
func Key(v judge.Value, encoding string) any {
	if v.Kind == judge.Text && encoding != "UTF-8" {
		return decodeUTF16(v.Bytes, encoding == "UTF-16be")
	}
	return v.Any()
}

func decodeUTF16(b []byte, bigEndian bool) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		lo, hi := b[2*i], b[2*i+1]
		if bigEndian {
			lo, hi = hi, lo
		}
		units[i] = uint16(lo) | uint16(hi)<<8
	}
	return string(utf16.Decode(units))
}

package value

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/foliofs/folio/internal/record"
)

// A Collation orders texts.
type Collation uint8

const (
	NoCollation Collation = iota // BINARY, for lack of another
	Binary
	NoCase
	RTrim
)

// CollationOf returns SQLite's own collations; ok is false if the collation is an application's.
func CollationOf(name string) (Collation, bool) {
	switch {
	case strings.EqualFold(name, "BINARY"):
		return Binary, true
	case strings.EqualFold(name, "NOCASE"):
		return NoCase, true
	case strings.EqualFold(name, "RTRIM"):
		return RTrim, true
	}
	return NoCollation, false
}

// rank puts the storage classes in order; integers and floats share a place.
var rank = [...]uint8{record.Null: 0, record.Integer: 1, record.Float: 1, record.Text: 2, record.Blob: 3}

// Compare orders two values: NULL, numbers by value, texts by collation, BLOBs by their bytes.
func Compare(a, b record.Value, c Collation) int {
	if d := cmp.Compare(rank[a.Kind()], rank[b.Kind()]); d != 0 {
		return d
	}
	switch {
	case a.Kind() == record.Null:
		return 0
	case a.Kind() == record.Text:
		return c.compare(a.Bytes(), b.Bytes())
	case a.Kind() == record.Blob:
		return bytes.Compare(a.Bytes(), b.Bytes())
	case a.Kind() == record.Integer && b.Kind() == record.Integer:
		return cmp.Compare(a.Int(), b.Int())
	case a.Kind() == record.Integer:
		return record.CompareIntFloat(a.Int(), b.Float())
	case b.Kind() == record.Integer:
		return -record.CompareIntFloat(b.Int(), a.Float())
	}
	return cmp.Compare(a.Float(), b.Float())
}

func (c Collation) compare(a, b []byte) int {
	switch c {
	case NoCase:
		return record.CompareNoCase(a, b)
	case RTrim:
		return bytes.Compare(bytes.TrimRight(a, " "), bytes.TrimRight(b, " "))
	}
	return bytes.Compare(a, b)
}

func Lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func Upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// CompareAs orders two values, neither of them NULL, after an affinity was applied to both.
func CompareAs(a, b record.Value, as Affinity, c Collation) int {
	switch {
	case as.Numeric():
		if a.Kind() == record.Text {
			a = Numeric(a)
		}
		if b.Kind() == record.Text {
			b = Numeric(b)
		}
	case as == AffinityText && (a.Kind() == record.Text || b.Kind() == record.Text):
		a, b = Apply(a, AffinityText), Apply(b, AffinityText)
	}
	return Compare(a, b, c)
}

// Same reports whether the value of a column a equals the value of a column b, neither of them
// NULL, by the affinities of both and a collation of SQLite's own.
func Same(a, b record.Value, columnA, columnB Affinity, order string) bool {
	c, _ := CollationOf(order)
	return a.Kind() != record.Null && b.Kind() != record.Null && CompareAs(a, b, Comparison(columnA, columnB), c) == 0
}

package expr

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
)

// A collation orders texts.
type collation uint8

const (
	noCollation collation = iota // BINARY, for lack of another
	binary
	noCase
	rtrim
)

// collationOf returns SQLite's own collations; ok is false for those of an application.
func collationOf(name string) (collation, bool) {
	switch {
	case strings.EqualFold(name, "BINARY"):
		return binary, true
	case strings.EqualFold(name, "NOCASE"):
		return noCase, true
	case strings.EqualFold(name, "RTRIM"):
		return rtrim, true
	}
	return noCollation, false
}

// rank puts the storage classes in order; integers and floats share a place.
var rank = [...]uint8{Null: 0, Integer: 1, Float: 1, Text: 2, Blob: 3}

// compare orders two values: NULL, numbers by value, texts by collation, BLOBs by their bytes.
func compare(a, b Value, c collation) int {
	if d := cmp.Compare(rank[a.Kind()], rank[b.Kind()]); d != 0 {
		return d
	}
	switch {
	case a.Kind() == Null:
		return 0
	case a.Kind() == Text:
		return c.compare(a.Bytes(), b.Bytes())
	case a.Kind() == Blob:
		return bytes.Compare(a.Bytes(), b.Bytes())
	case a.Kind() == Integer && b.Kind() == Integer:
		return cmp.Compare(a.Int(), b.Int())
	case a.Kind() == Integer:
		return record.CompareIntFloat(a.Int(), b.Float())
	case b.Kind() == Integer:
		return -record.CompareIntFloat(b.Int(), a.Float())
	}
	return cmp.Compare(a.Float(), b.Float())
}

func (c collation) compare(a, b []byte) int {
	switch c {
	case noCase:
		return record.CompareNoCase(a, b)
	case rtrim:
		return bytes.Compare(bytes.TrimRight(a, " "), bytes.TrimRight(b, " "))
	}
	return bytes.Compare(a, b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// An affinity is that of an expression, which may have none: then it yields to that of the other
// side of a comparison.
type affinity int8

const none affinity = -1

func (a affinity) numeric() bool { return a >= affinity(ddl.AffinityNumeric) }

// comparison returns the affinity that the two sides of a comparison get.
func comparison(a, b affinity) affinity {
	switch {
	case a == none:
		return b
	case b == none:
		return a
	case a.numeric() || b.numeric():
		return affinity(ddl.AffinityNumeric)
	}
	return affinity(ddl.AffinityBlob)
}

// compareAs orders two values, neither of them NULL, after an affinity was applied to both.
func compareAs(a, b Value, as affinity, c collation) int {
	switch {
	case as.numeric():
		if a.Kind() == Text {
			a = numericOf(a)
		}
		if b.Kind() == Text {
			b = numericOf(b)
		}
	case as == affinity(ddl.AffinityText) && (a.Kind() == Text || b.Kind() == Text):
		a, b = Apply(a, ddl.AffinityText), Apply(b, ddl.AffinityText)
	}
	return compare(a, b, c)
}

// Same reports whether the value of a column a is that of a column b, neither of them NULL, by the
// affinities of both and a collation of SQLite's own.
func Same(a, b Value, columnA, columnB ddl.Affinity, order string) bool {
	c, _ := collationOf(order)
	return a.Kind() != Null && b.Kind() != Null && compareAs(a, b, comparison(affinity(columnA), affinity(columnB)), c) == 0
}

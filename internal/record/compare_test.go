package record

import (
	"cmp"
	"math"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

func null() Value           { return Value{} }
func integer(v int64) Value { return OfInt(v) }
func float(v float64) Value { return OfFloat(v) }
func text(s string) Value   { return OfTextIn([]byte(s), format.UTF8) }
func blob(s string) Value   { return OfBlob([]byte(s)) }

// ordered are values in SQLite's order; those in one line are equal.
var ordered = [][]Value{
	{null(), float(math.NaN())},
	{float(math.Inf(-1))},
	{float(-math.MaxFloat64)},
	{float(-math.Nextafter(1<<63, math.Inf(1)))},
	{integer(math.MinInt64), float(-1 << 63)},
	{integer(math.MinInt64 + 1)},
	{integer(-1<<53 - 1)},
	{integer(-1 << 53), float(-1 << 53)},
	{float(-1.5)},
	{integer(-1), float(-1)},
	{float(-math.SmallestNonzeroFloat64)},
	{integer(0), float(0), float(math.Copysign(0, -1))},
	{float(math.SmallestNonzeroFloat64)},
	{integer(1), float(1)},
	{float(1.5)},
	{integer(1<<53 - 1), float(1<<53 - 1)},
	{integer(1 << 53), float(1 << 53)},
	{integer(1<<53 + 1)},
	{integer(1<<53 + 2), float(1<<53 + 2)},
	{float(math.Nextafter(1<<63, 0))},
	{integer(math.MaxInt64 - 1)},
	{integer(math.MaxInt64)},
	{float(1 << 63)},
	{float(math.MaxFloat64)},
	{float(math.Inf(1))},
	{text("")},
	{text("\x00")},
	{text("A")},
	{text("A\x00")},
	{text("AB")},
	{text("a")},
	{text("é")},
	{text("\U0001f600")},
	{blob("")},
	{blob("\x00")},
	{blob("a")},
	{blob("a\x00")},
	{blob("\xff")},
}

func TestCompareOrder(t *testing.T) {
	t.Parallel()
	for i, left := range ordered {
		for j, right := range ordered {
			for _, a := range left {
				for _, b := range right {
					if got, want := Compare(&a, &b, Binary), cmp.Compare(i, j); got != want {
						t.Errorf("Compare(%v, %v) = %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
}

func TestCollations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b          string
		noCase, rTrim int
	}{
		{"a", "A", 0, 1},
		{"a", "B", -1, 1},
		{"Z", "[", 1, -1}, // folded to lower case
		{"z", "{", -1, -1},
		{"É", "é", -1, -1},
		{"a", "a ", -1, 0},
		{"a  ", "a", 1, 0},
		{"", "   ", -1, 0},
		{"a\t", "a", 1, 1},
		{"a b", "a", 1, 1},
		{" a", "a", -1, -1},
		{"a\x00b", "a\x00c", 0, -1}, // NOCASE looks no further than a zero byte
		{"a\x00b", "a\x00cc", -1, -1},
		{"a\x00zz", "A\x00b", 1, 1},
		{"a\x00", "ab", -1, -1},
		{"ab", "a\x00z", 1, 1},
		{"", "\x00", -1, -1},
	} {
		x, y := text(c.a), text(c.b)
		for Collation, want := range map[Collation]int{NoCase: c.noCase, RTrim: c.rTrim} {
			if got := Compare(&x, &y, Collation); got != want {
				t.Errorf("%q and %q in Collation %d: %d, want %d", c.a, c.b, Collation, got, want)
			}
			if got := Compare(&y, &x, Collation); got != -want {
				t.Errorf("%q and %q in Collation %d: %d, want %d", c.b, c.a, Collation, got, -want)
			}
		}
	}
}

func TestCollationOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Collation{
		"": Binary, "binary": Binary, "NoCase": NoCase, "RTRIM": RTrim, "german": UnknownCollation,
	} {
		if got := CollationOf(name); got != want {
			t.Errorf("CollationOf(%q) = %d, want %d", name, got, want)
		}
	}
}

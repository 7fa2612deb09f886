package sqlitefile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

func null() Value           { return Value{} }
func integer(v int64) Value { return Value{kind: Integer, num: v} }
func float(v float64) Value { return floatValue(v) }
func text(s string) Value   { return Value{kind: Text, data: []byte(s), enc: format.UTF8} }
func blob(s string) Value   { return Value{kind: Blob, data: []byte(s)} }

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
					if got, want := compare(&a, &b, collateBinary), cmp.Compare(i, j); got != want {
						t.Errorf("compare(%v, %v) = %d, want %d", a, b, got, want)
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
		for collation, want := range map[collation]int{collateNoCase: c.noCase, collateRTrim: c.rTrim} {
			if got := compare(&x, &y, collation); got != want {
				t.Errorf("%q and %q in collation %d: %d, want %d", c.a, c.b, collation, got, want)
			}
			if got := compare(&y, &x, collation); got != -want {
				t.Errorf("%q and %q in collation %d: %d, want %d", c.b, c.a, collation, got, -want)
			}
		}
	}
}

func TestCollationOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]collation{
		"": collateBinary, "binary": collateBinary, "NoCase": collateNoCase, "RTRIM": collateRTrim, "german": collateUnknown,
	} {
		if got := collationOf(name); got != want {
			t.Errorf("collationOf(%q) = %d, want %d", name, got, want)
		}
	}
}

// strange are expressions whose values are hard to put in order.
var strange = []string{
	"NULL", "0", "-0.0", "1", "1.0", "-1", "0.5", "1e308", "-1e308", "9e999", "-9e999",
	"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740992.0", "9007199254740994.0",
	"9223372036854775807", "-9223372036854775808", "9223372036854775806", "9.2233720368547758e18", "-9.2233720368547758e18",
	"9.2233720368547748e18", "1.7976931348623157e308", "5e-324",
	"''", "' '", "'  '", "'a'", "'A'", "'a '", "'A  '", "'ab'", "'AB'", "'aB '", "'b'", "'Z'", "'['", "'z'", "'{'", "'é'", "'É'", "'\U0001f600'", "'\ufffd'", "'\uffff'",
	"x''", "x'00'", "x'61'", "x'6100'", "x'ff'", "zeroblob(9)",
	"char(0)", "'a' || char(0)", "'A' || char(0) || 'b'", "'a' || char(0) || 'c'", "'a' || char(0) || 'dd'", "'a' || char(0) || ' '",
}

// TestCompareAsSQLite sorts the same values by SQLite and by compare, in each encoding and collation, and holds each pair
// that SQLite calls equal, and no other, to be so.
func TestCompareAsSQLite(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		for _, collation := range []string{"BINARY", "NOCASE", "RTRIM"} {
			t.Run(encoding+" "+collation, func(t *testing.T) {
				t.Parallel()
				testCompareAsSQLite(t, encoding, collation)
			})
		}
	}
}

func testCompareAsSQLite(t *testing.T, encoding, collation string) {
	exprs := strange
	if encoding != "UTF-8" { // halves of pairs, in every place
		unit := func(units ...string) string {
			if encoding == "UTF-16le" {
				for i, u := range units {
					units[i] = u[2:] + u[:2]
				}
			}
			return "CAST(x'" + strings.Join(units, "") + "' AS TEXT)"
		}
		exprs = append(slices.Clone(exprs),
			unit("d800"), unit("dc00"), unit("d800", "0061"), unit("dc00", "0061"), unit("0061", "d800"), unit("d83d", "de00"),
			unit("d800", "d800"), unit("dbff", "dfff"), unit("dfff", "0041"), unit("d800", "0041", "0020"))
	}
	path := dbImage(nil).write(t)
	sql := "PRAGMA encoding = '" + encoding + "'; CREATE TABLE t (id INTEGER PRIMARY KEY, v COLLATE " + collation + "); CREATE INDEX tv ON t (v);\n"
	for _, e := range exprs {
		sql += "INSERT INTO t (v) VALUES (" + e + ");\n"
	}
	shell(t, path, sql)
	wantOrder := strings.Fields(shell(t, path, "SELECT id FROM t ORDER BY v, id"))
	equal := strings.Fields(shell(t, path, "SELECT a.id || '=' || b.id FROM t a JOIN t b ON a.v IS b.v AND a.id < b.id"))

	db := open(t, path, nil)
	if r, err := db.Check(t.Context()); err != nil || !r.OK() {
		t.Errorf("Check: %+v, %v", r, err)
	}
	view(t, db, func(rx *Rx) error {
		x, err := rx.Index("tv")
		if err != nil {
			return err
		}
		var ids []string
		var values []Value
		for row, err := range x.All() {
			if err != nil {
				return err
			}
			v, err := row.Value(0)
			if err != nil {
				return err
			}
			ids, values = append(ids, fmt.Sprint(row.Rowid())), append(values, v)
		}
		if !slices.Equal(ids, wantOrder) {
			t.Errorf("order %v, want %v", ids, wantOrder)
		}
		for i := range values {
			for j := range i {
				got := compare(&values[j], &values[i], collationOf(collation))
				a, _ := strconv.Atoi(ids[j])
				b, _ := strconv.Atoi(ids[i])
				same := slices.Contains(equal, fmt.Sprintf("%d=%d", min(a, b), max(a, b)))
				if same && got != 0 || !same && got >= 0 {
					t.Errorf("%s before %s: compare gives %d, SQLite equal %v", exprs[a-1], exprs[b-1], got, same)
				}
			}
			if id, ok, err := x.Find(values[i]); err != nil || !ok {
				t.Errorf("Find(%v) = %d, %v, %v", values[i], id, ok, err)
			}
		}
		return nil
	})
}

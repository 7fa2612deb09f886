package sqlitefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/record"
)

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

// TestCompareAsSQLite sorts the same values by SQLite and by compare, in each encoding and
// collation, and holds each pair that SQLite calls equal, and no other, to be so.
func TestCompareAsSQLite(t *testing.T) {
	t.Parallel()
	for i, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		for j, collation := range []string{"BINARY", "NOCASE", "RTRIM"} {
			if (i+j)%inQuick(3, 1) != 0 {
				continue
			}
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
	if r, err := db.Check(t.Context(), nil); err != nil || !r.OK() {
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
				got := record.Compare(&values[j].v, &values[i].v, record.CollationOf(collation))
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

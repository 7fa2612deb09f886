package defaults

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/sqlitefile"
)

// constants are what may follow DEFAULT.
var constants = []string{
	"NULL", "1", "-1", "+1", "007", "2147483648", "-9223372036854775808", "9223372036854775807", "9223372036854775808",
	"99999999999999999999", "-99999999999999999999", "0x10", "-0x10", "0x7fffffffffffffff", "0xffffffffffffffff", "-0x8000000000000000",
	"0x00000000000000000012", "0x123456789012345678", "1.0", "1.50", "-1.50", ".5", "5.", "1e3", "1e400", "-1e400", "1e-400", "1.5e+2", "0.0", "-0.0",
	"123456789012345678.0", "4503599627370496.0", "1_000", "1_0.0_1", "0x1_F", "1e1_0", "'abc'", "''", "' 12 '", "'12abc'", "'1.0'", "'-5'", "'+7'", "'1e3'", "'0x10'",
	"'1e'", "'.'", "'5.'", "'.5'", "'9223372036854775808'", "'\t3\n'", "'1_000'", `"double"`, `"12"`, "[5]", "`7`", "word", "true", "FALSE", `"true"`, "indexed", "key", "window",
	"x''", "x'3132'", "X'00fF'", "CURRENT_TIMESTAMP", "current_date", "(1)", "(-1)", "( - 1 )", "((1.50))", "(+1.50)", "(-(1.50))", "(-(+1))", "(- -5)", "(- - -5)", "(-(9223372036854775808))",
	"(- -9223372036854775808)", "(-'12abc')", "(-'abc')", "(-'1.5')", "(-x'31')", "(-NULL)", "(-true)", "(+true)", "('x')", "(TRUE)", "(NULL)", "(CAST('5' AS INTEGER))", "(CAST('5x' AS INT))",
	"(CAST(1.7 AS INT))", "(CAST('1e3' AS INTEGER))", "(CAST('1e3' AS NUMERIC))", "(CAST('abc' AS REAL))", "(CAST(5 AS REAL))", "(CAST(5 AS TEXT))", "(CAST(1.50 AS TEXT))",
	"(CAST(x'31' AS TEXT))", "(CAST('a' AS BLOB))", "(CAST(x'41' AS BLOB))", "(CAST(NULL AS TEXT))", "(CAST('99999999999999999999' AS INTEGER))", "(CAST(CAST('7.5' AS REAL) AS INT))",
	"(-CAST('5' AS INT))", "(CAST('5' AS))", "(CAST(' 3.0 ' AS NUMERIC))", "(CAST('3.5abc' AS NUMERIC))", "(CAST(1e20 AS INTEGER))", "(CAST(true AS TEXT))", "(CAST((5) AS 'te''xt'))",
	"(1+1)", "('a' || 'b')", "(abs(-5))", "(1 COLLATE nocase)", "(~5)", "(NOT 1)", "(CASE WHEN 1 THEN 2 END)", "(1, 2)", "(1 IS NULL)",
	"1e22", "-1e22", "1e16", "123456789.125", "0.1", "-.5", "+.5", "- 5", "+ 5", "- 1.5", "1e15", "1e17", "1e-5", "0.0001", "9007199254740993", "9007199254740993.0",
	"-9223372036854775809", "18446744073709551615", "1e308", "1.7976931348623157e308", "-1e-400", "5e-324", "3.0", "-3.0", "(1e3)", "(-1e3)", "(- -1e3)", "(-(-0.0))", "(- -0.0)",
	"(+0.0)", "'1e22'", "'0x10'", "' 5'", "'5 '", "'1e400'", "'nan'", "'inf'", "x'ff'", "x'31'", "X'00'", "CURRENT_TIME", "CURRENT_DATE", "current_timestamp", "(CURRENT_TIMESTAMP)",
	`"current_timestamp"`, "(CAST(1e3 AS TEXT))", "(CAST(1e3 AS INTEGER))", "(CAST(1e3 AS NUMERIC))", "(CAST('1e3' AS TEXT))", "(-CAST(0 AS REAL))", "(random())", "(strftime('%s'))",
}

// declared are types for the affinities.
var declared = []string{"", "BLOB", "TEXT", "VARCHAR(10)", "INTEGER", "BIGINT", "REAL", "DOUBLE", "NUMERIC", "DECIMAL(5,2)", `""`}

// TestInserted compares the default in a row that is inserted without the column, and in a row that
// is older than the column, for every default and every affinity. Ours refuses what it does not
// know exactly.
func TestInserted(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"UTF-8", "UTF-16le"} {
		for _, typ := range append([]string{"ANY STRICT", "TEXT STRICT", "REAL STRICT", "INT STRICT", "BLOB STRICT"}, declared...) {
			compareInserted(t, encoding, typ)
		}
	}
}

func compareInserted(t *testing.T, encoding, typ string) {
	t.Helper()
	all := constants
	path := filepath.Join(t.TempDir(), "db")
	c := openJudge(t, path, encoding)
	strict := ""
	if n := len(typ) - len(" STRICT"); n > 0 && typ[n:] == " STRICT" {
		typ, strict = typ[:n], " STRICT"
	}
	made, later := make([]bool, len(all)), make([]bool, len(all))
	theirs := make([]error, len(all))
	must.Do(t, c.Exec("BEGIN"))
	for i, d := range all {
		made[i] = c.Exec(fmt.Sprintf("CREATE TABLE t%d(z INT, a %s DEFAULT %s)%s", i, typ, d, strict)) == nil
		if !made[i] {
			continue
		}
		theirs[i] = c.Exec(fmt.Sprintf("INSERT INTO t%d(z) VALUES (0)", i))
		must.Do(t, c.Exec(fmt.Sprintf("CREATE TABLE u%d(z INT)%s; INSERT INTO u%d VALUES (0)", i, strict, i)))
		later[i] = c.Exec(fmt.Sprintf("ALTER TABLE u%d ADD COLUMN a %s DEFAULT %s", i, typ, d)) == nil
	}
	must.Do(t, c.Exec("COMMIT"))
	must.Do(t, c.Close())
	db, err := sqlitefile.Open(path, nil)
	must.Do(t, err)
	defer db.Close()
	mine, read := make([]error, len(all)), make([]judge.Value, len(all))
	must.Do(t, db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		for i := range all {
			if made[i] {
				mine[i] = insert(tx, fmt.Sprint("t", i))
			}
		}
		return nil
	}))
	for i := range all {
		if later[i] {
			read[i] = old(t, db, fmt.Sprint("u", i))
		}
	}
	must.Do(t, db.Close())
	c = openJudge(t, path, encoding)
	defer c.Close()
	for i, d := range all {
		what := fmt.Sprintf("%s: a %s DEFAULT %s%s", encoding, typ, d, strict)
		if made[i] {
			compareNew(t, c, what, fmt.Sprint("t", i), theirs[i], mine[i])
		}
		if want := values(t, c, fmt.Sprint("u", i), later[i]); later[i] && read[i].Kind != unknown && !read[i].Equal(want[0]) {
			t.Errorf("%s, added later: we read %v, SQLite %v", what, read[i], want[0])
		}
	}
	for _, found := range texts(t, c, "PRAGMA integrity_check") {
		if found != "ok" {
			t.Errorf("%s %s: %s", encoding, typ, found)
		}
	}
}

// insert inserts a row without the column.
func insert(tx *sqlitefile.Tx, name string) error {
	table, err := tx.Table(name)
	if err != nil {
		return err
	}
	table.Internal(private.Key{}).FirstColumns(1)
	_, err = table.Insert(0)
	return err
}

// unknown is the kind of a value that ours refuses to tell.
const unknown = judge.Kind(99)

// old returns what ours reads in a row that is older than its last column.
func old(t *testing.T, db *sqlitefile.DB, name string) (v judge.Value) {
	t.Helper()
	must.Do(t, db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		table, err := rx.Table(name)
		if err != nil {
			return err
		}
		row, _, err := table.Get(1)
		if err != nil {
			return err
		}
		value, err := row.Value(1)
		v = ours.Value(value)
		v.Bytes = append([]byte{}, v.Bytes...)
		if errors.Is(err, sqlitefile.ErrUnsupported) {
			v.Kind, err = unknown, nil
		}
		return err
	}))
	return v
}

// compareNew compares what both have inserted.
func compareNew(t *testing.T, c *judge.Conn, what, table string, theirs, mine error) {
	t.Helper()
	if errors.Is(mine, sqlitefile.ErrUnsupported) {
		return
	}
	if (theirs == nil) != (mine == nil) {
		t.Errorf("%s: inserting: %v, SQLite: %v", what, mine, theirs)
		return
	}
	if theirs != nil {
		return
	}
	v := values(t, c, table, true)
	if len(v) != 2 || !v[0].Equal(v[1]) && !moment(v) {
		t.Errorf("%s: SQLite and we insert %v", what, v)
	}
}

// moment reports whether both values are a time, and ours is not before that of SQLite.
func moment(v []judge.Value) bool {
	a, b := strings.ReplaceAll(string(v[0].Bytes), "\x00", ""), strings.ReplaceAll(string(v[1].Bytes), "\x00", "") // UTF-16, too
	return v[0].Kind == judge.Text && v[1].Kind == judge.Text && len(a) == len(b) && len(a) >= 8 && (a[2] == ':' || a[4] == '-') && a <= b
}

// values returns the column a of all rows of a table.
func values(t *testing.T, c *judge.Conn, table string, there bool) (all []judge.Value) {
	t.Helper()
	if !there {
		return nil
	}
	for row, err := range c.Select(t.Context(), []string{"a"}, table) {
		must.Do(t, err)
		all = append(all, row[0])
	}
	return all
}

func texts(t *testing.T, c *judge.Conn, query string) []string {
	t.Helper()
	all, err := c.Strings(t.Context(), query)
	must.Do(t, err)
	return all
}

func openJudge(t *testing.T, path, encoding string) *judge.Conn {
	t.Helper()
	c, err := judge.Open(path)
	if err != nil {
		t.Skipf("no C SQLite in this build: %v", err)
	}
	must.Do(t, c.Exec("PRAGMA encoding = '"+encoding+"'; PRAGMA synchronous = OFF"))
	return c
}

package ddl

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// defaults are texts that may follow DEFAULT.
var defaults = []string{
	"NULL", "1", "-1", "+1", "007", "2147483648", "-9223372036854775808", "9223372036854775807", "9223372036854775808",
	"99999999999999999999", "-99999999999999999999", "0x10", "-0x10", "0x7fffffffffffffff", "0xffffffffffffffff", "-0x8000000000000000",
	"0x00000000000000000012", "0x123456789012345678", "1.0", "1.50", "-1.50", ".5", "5.", "1e3", "1e400", "-1e400", "1e-400", "1.5e+2", "0.0", "-0.0",
	"123456789012345678.0", "4503599627370496.0", "1_000", "1_0.0_1", "0x1_F", "1e1_0", "'abc'", "''", "' 12 '", "'12abc'", "'1.0'", "'-5'", "'+7'", "'1e3'", "'0x10'",
	"'1e'", "'.'", "'5.'", "'.5'", "'9223372036854775808'", "'\t3\n'", "'1_000'", `"double"`, `"12"`, "[5]", "`7`", "word", "true", "FALSE", `"true"`, "indexed", "key", "window",
	"x''", "-x''", "-x'00'", "-x'2d3132'", "-x'312e3500'", "-x'3100'", "(-(-x'3132ff'))", "x'3132'", "X'00fF'", "CURRENT_TIMESTAMP", "current_date", "(1)", "(-1)", "( - 1 )", "((1.50))", "(-(1.50))", "(-(+1))", "(- -5)", "(- - -5)", "(-(9223372036854775808))",
	"(- -9223372036854775808)", "(-'12abc')", "(-'abc')", "(-'1.5')", "(-x'31')", "(-NULL)", "(-true)", "(+true)", "('x')", "(TRUE)", "(NULL)", "(CAST('5' AS INTEGER))", "(CAST('5x' AS INT))",
	"(CAST(1.7 AS INT))", "(CAST('1e3' AS INTEGER))", "(CAST('1e3' AS NUMERIC))", "(CAST('abc' AS REAL))", "(CAST(5 AS REAL))", "(CAST(5 AS TEXT))", "(CAST(1.50 AS TEXT))",
	"(CAST(x'31' AS TEXT))", "(CAST('a' AS BLOB))", "(CAST(x'41' AS BLOB))", "(CAST(NULL AS TEXT))", "(CAST('99999999999999999999' AS INTEGER))", "(CAST(CAST('7.5' AS REAL) AS INT))",
	"(-CAST('5' AS INT))", "(CAST('5' AS))", "(CAST(' 3.0 ' AS NUMERIC))", "(CAST('3.5abc' AS NUMERIC))", "(CAST(1e20 AS INTEGER))", "(CAST(true AS TEXT))", "(CAST((5) AS 'te''xt'))",
	"(1+1)", "('a' || 'b')", "(abs(-5))", "(1 COLLATE nocase)", "(~5)", "(NOT 1)", "(CASE WHEN 1 THEN 2 END)", "(1, 2)", "(1 IS NULL)",
}

// declared are types for the affinities.
var declared = []string{"", "BLOB", "TEXT", "VARCHAR(10)", "INTEGER", "BIGINT", "REAL", "DOUBLE", "NUMERIC", "DECIMAL(5,2)", `""`}

// unknowable holds the constants whose value depends on the encoding of the database, or on how
// much the parser of SQLite simplifies.
var unknowable = []string{"CAST(x'31'", "'a' AS BLOB", "IS NULL"}

// TestDefaults compares the value of a column that was added to a row later.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, typ := range declared {
		for _, d := range defaults {
			compareDefault(t, typ, d)
		}
	}
}

func compareDefault(t *testing.T, typ, def string) {
	t.Helper()
	j := newJudge(t)
	defer j.close()
	j.must("CREATE TABLE t(z)")
	j.must("INSERT INTO t VALUES (0)")
	err := j.exec("ALTER TABLE t ADD COLUMN a " + typ + " DEFAULT " + def)
	table, parseErr := ddl.ParseTable("CREATE TABLE t(z, a " + typ + " DEFAULT " + def + ")")
	if parseErr != nil {
		if err == nil || !strings.Contains(err.Error(), "syntax error") {
			t.Errorf("a %s DEFAULT %s: %v (SQLite: %v)", typ, def, parseErr, err)
		}
		return
	}
	d := table.Columns[1].Default
	if err != nil {
		if !strings.Contains(err.Error(), "non-constant default") || d.Kind != ddl.DefaultExpr {
			t.Errorf("a %s DEFAULT %s: %+v, SQLite: %v", typ, def, d, err)
		}
		return
	}
	want := j.value("SELECT typeof(a), a, CAST(a AS BLOB) FROM t")
	if got := valueOf(d); got != want && !(d.Kind == ddl.DefaultExpr && contained(def, unknowable)) {
		t.Errorf("a %s DEFAULT %s: we say %s, SQLite %s", typ, def, got, want)
	}
}

func contained(s string, list []string) bool {
	for _, x := range list {
		if strings.Contains(s, x) {
			return true
		}
	}
	return false
}

// value returns the kind and the value of the column that a query asks for.
func (j *judge) value(query string) string {
	j.t.Helper()
	var kind string
	var v any
	var raw sql.RawBytes
	rows, err := j.db.Query(query)
	if err != nil {
		j.t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		j.t.Fatal(rows.Err())
	}
	if err := rows.Scan(&kind, &v, &raw); err != nil {
		j.t.Fatal(err)
	}
	switch kind {
	case "text", "blob":
		return fmt.Sprintf("%s %q", kind, bytes.Clone(raw))
	case "null":
		return kind
	}
	return fmt.Sprint(kind, " ", v)
}

// valueOf describes a default in the same way.
func valueOf(d ddl.Default) string {
	if d.Kind == ddl.DefaultExpr {
		return "not constant"
	}
	v := d.Value
	switch v.Kind() {
	case record.Integer:
		return fmt.Sprint("integer ", v.Int())
	case record.Float:
		return fmt.Sprint("real ", v.Float())
	case record.Text:
		return fmt.Sprintf("text %q", v.Bytes())
	case record.Blob:
		return fmt.Sprintf("blob %q", v.Bytes())
	}
	return "null"
}

// TestAffinities compares the affinity of every type that the generator knows, as CREATE TABLE AS
// tells it.
func TestAffinities(t *testing.T) {
	t.Parallel()
	more := []string{"xINTx", "xCHARx", "cLoB", "BLOB TEXT", "TEXT BLOB", "REAL BLOB", "BLOB REAL", "FLOA", "DOUB", "DOUBT INT", "in t", "CHA R", "[CHAR]", "ANY", "'any'", "[int", "İNT", "charint(1)"}
	for _, typ := range append(more, types...) {
		table, err := ddl.ParseTable("CREATE TABLE t(a " + typ + ")")
		j := newJudge(t)
		if theirs := j.exec("CREATE TABLE t(a " + typ + ")"); (theirs == nil) != (err == nil) {
			t.Errorf("type %s: %v, SQLite: %v", typ, err, theirs)
		}
		if err == nil {
			j.must("CREATE TABLE copy AS SELECT a FROM t")
			stored := j.one("SELECT sql FROM sqlite_schema WHERE name = 'copy'")
			if want := affinities[table.Columns[0].Affinity]; !strings.HasSuffix(stored, want) {
				t.Errorf("type %s: affinity %v, SQLite makes %s", typ, table.Columns[0].Affinity, stored)
			}
		}
		j.close()
	}
}

// affinities are the types that CREATE TABLE AS gives to columns of an affinity.
var affinities = map[value.Affinity]string{
	value.AffinityBlob: "(a)", value.AffinityText: "(a TEXT)", value.AffinityNumeric: "(a NUM)", value.AffinityInteger: "(a INT)", value.AffinityReal: "(a REAL)",
}

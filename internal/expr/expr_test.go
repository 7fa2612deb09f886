package expr

import (
	"math"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"

	"github.com/foliofs/folio/internal/ddl"
)

const table = "CREATE TABLE t(a INTEGER, b TEXT COLLATE NOCASE, c REAL, d, v COLLATE mine)"

type row []record.Value

func (r row) Column(i int) (record.Value, error) {
	if i == Rowid {
		return record.OfInt(42), nil
	}
	return r[i], nil
}

func tableOf(tb testing.TB) *ddl.Table {
	tb.Helper()
	t, err := ddl.ParseTable(table)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestEval has examples whose values are those of SQLite 3.53.
func TestEval(t *testing.T) {
	t.Parallel()
	r := row{record.OfInt(7), record.OfText([]byte("Abc")), record.OfFloat(2.5), record.OfText([]byte("12x"))}
	for _, c := range []struct{ expr, want string }{
		{"a + 1", "8"},
		{"9223372036854775807 + 1", "'9.2233720368547758e+18'"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"7 / 2", "3"},
		{"7 / 0", "NULL"},
		{"7.0 / 2", "3.5"},
		{"d + 1", "13"},
		{"b = 'ABC'", "1"},
		{"b = 'ABC' COLLATE BINARY", "0"},
		{"a = '7'", "1"},
		{"a || ''  = 7", "0"},
		{"c || ''", "'2.5'"},
		{"0.1 + 0.2 || ''", "'0.30000000000000004'"},
		{"1e23 || ''", "'1.0e+23'"},
		{"b LIKE 'a%'", "1"},
		{"b GLOB 'a*'", "0"},
		{"CASE a WHEN 7 THEN 'seven' ELSE 'other' END", "'seven'"},
		{"a BETWEEN 1 AND 7", "1"},
		{"a IN (1, 2, NULL)", "NULL"},
		{"a IN ('7')", "1"},
		{"NULL IS NOT 1", "1"},
		{"5 IS TRUE", "1"},
		{"rowid", "42"},
		{"substr('hello', -3, 2)", "'ll'"},
		{"hex(x'00ff')", "'00FF'"},
		{"round(2.567, 2)", "2.57"},
		{"min('a', 'B')", "'B'"},
		{"coalesce(NULL, a)", "7"},
		{"typeof(CAST('1.0' AS NUMERIC))", "'integer'"},
	} {
		x, err := Compile(c.expr, tableOf(t), Check)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		v, err := x.Eval(r)
		q, _ := function.Quote([]record.Value{v})
		want := strings.Trim(c.want, "'")
		if got := strings.Trim(string(q.Bytes()), "'"); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", c.expr, got, err, want)
		}
	}
}

// TestRefused has expressions that Compile must refuse.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expr, want string }{
		{"random()", "the function random"},
		{"date('now')", "the function date"},
		{"json_extract(a, '$')", "the function json_extract"},
		{"length(a, b)", "the function length with 2 arguments"},
		{"a -> '$'", "the operator ->"},
		{"a IN (SELECT 1)", "IN with a table or a SELECT"},
		{"a IN ()", "IN with an empty list"},
		{"EXISTS (SELECT 1)", "EXISTS"},
		{"(a, b) = (1, 2)", "a row value"},
		{`a = [text]`, "no such column"},
		{`a = t."text"`, "no such column"},
		{"nosuch", "no such column"},
		{"v = 1", "the collation mine"},
		{"a COLLATE mine", "the collation mine"},
		{"current_time", "the current time"},
		{"a LIKE 'x' ESCAPE b", "ESCAPE"},
		{"a REGEXP 'x'", "the operator REGEXP"},
		{"0x10000000000000000", "hexadecimal"},
		{"count(*)", "an aggregate"},
		{strings.Repeat("(", 3000) + "1" + strings.Repeat(")", 3000), "Recursion limit"},
		{"1" + strings.Repeat("+1", 2000), "too large"},
	} {
		if _, err := Compile(c.expr, tableOf(t), Check); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %v, want %s", c.expr, err, c.want)
		}
	}
	for _, place := range []Place{Term, Generated} {
		if _, err := Compile("rowid", tableOf(t), place); err == nil {
			t.Error("the rowid in an index or a generated column")
		}
	}
}

// FuzzEval looks for expressions and values that panic.
func FuzzEval(f *testing.F) {
	f.Add("a || b LIKE '%_[a-z]' ESCAPE '_'", []byte("\xff\x00é"), 1.5)
	f.Add("substr(b, -9223372036854775808, a) GLOB d", []byte("*[^]a-]?"), math.Inf(1))
	f.Add("round(c, 30) + CAST(d AS NUMERIC) << a", []byte("1e9999"), 4.9e-324)
	f.Fuzz(func(t *testing.T, text string, b []byte, c float64) {
		x, err := Compile(text, tableOf(t), Check)
		if err != nil || strings.Count(text, "replace") > 1 {
			return
		}
		_, _ = x.Eval(row{record.OfInt(int64(c)), record.OfText(b), record.OfFloat(c), record.OfBlob(b), record.Value{}})
	})
}

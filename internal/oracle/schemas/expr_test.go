package schemas

import (
	"bytes"
	"database/sql/driver"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/record"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/oracle/judge"
)

var (
	exprRows = flag.Int("schemas.values", 20_000, "values of expressions to compare")
	seed     = flag.Uint64("schemas.seed", 1, "of the random expressions, schemas and rows")
)

const exprTable = "CREATE TABLE t(a INTEGER, b TEXT, c REAL, d, e TEXT COLLATE NOCASE, f BLOB COLLATE RTRIM, g NUMERIC, h INTEGER PRIMARY KEY, i VARCHAR COLLATE RTRIM)"

var exprColumns = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "t.a", "main.t.e", "[b]", "rowid", `"5"`, `"Text"`}

// newJudge returns C SQLite with an empty database in memory.
func newJudge(t *testing.T) *judge.Conn {
	t.Helper()
	if !judge.Available {
		t.Skip("needs cgo")
	}
	c, err := judge.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A rowOf is the values of a row of exprTable.
type rowOf []record.Value

func (r rowOf) Column(i int) (record.Value, error) {
	if i == expr.Rowid {
		i = 7
	}
	return r[i], nil
}

// valueOf makes a Value of what C says, with its type.
func valueOf(t *testing.T, v, kind driver.Value) record.Value {
	t.Helper()
	switch v := v.(type) {
	case nil:
		return record.Value{}
	case int64:
		return record.OfInt(v)
	case float64:
		return record.OfFloat(v)
	case string:
		return record.OfText([]byte(v))
	case []byte:
		if kind == "text" {
			return record.OfText(bytes.Clone(v))
		}
		return record.OfBlob(append([]byte{}, v...))
	}
	t.Fatalf("a %T of kind %v", v, kind)
	return record.Value{}
}

func same(a, b record.Value) bool {
	return a.Kind() == b.Kind() && a.Int() == b.Int() && bytes.Equal(a.Bytes(), b.Bytes()) // Int has the bits of a float
}

func show(v record.Value) string {
	switch v.Kind() {
	case record.Null:
		return "NULL"
	case record.Integer:
		return fmt.Sprint(v.Int())
	case record.Float:
		return fmt.Sprintf("float %x %v", math.Float64bits(v.Float()), v.Float())
	}
	return fmt.Sprintf("%v %q", v.Kind(), v.Bytes())
}

// fillRows puts rows into the table of expressions, and returns them as they are stored.
func fillRows(t *testing.T, c *judge.Conn, g *generator, n int) (rows []rowOf) {
	t.Helper()
	if err := c.Exec("DELETE FROM t"); err != nil {
		t.Fatal(err)
	}
	for range n {
		list := make([]string, 9)
		for i := range list {
			list[i] = literals[g.IntN(len(literals))]
			if g.IntN(4) == 0 {
				list[i] = fmt.Sprint(math.Float64frombits(g.Uint64()))
				if strings.ContainsAny(list[i], "NI") {
					list[i] = "0.1"
				}
			}
		}
		list[7] = fmt.Sprint(int64(g.Uint64()) >> g.IntN(64))
		if err := c.Exec("INSERT OR REPLACE INTO t VALUES (" + strings.Join(list, ", ") + ")"); err != nil {
			t.Fatal(err)
		}
	}
	for row, err := range c.Rows(t.Context(), "SELECT a,b,c,d,e,f,g,h,i, typeof(a),typeof(b),typeof(c),typeof(d),typeof(e),typeof(f),typeof(g),typeof(h),typeof(i) FROM t ORDER BY rowid") {
		if err != nil {
			t.Fatal(err)
		}
		r := make(rowOf, 9)
		for i := range r {
			r[i] = valueOf(t, row[i], row[9+i])
		}
		rows = append(rows, r)
	}
	return rows
}

// TestValues compares the values of random expressions for random rows.
func TestValues(t *testing.T) {
	t.Parallel()
	c := newJudge(t)
	table, err := ddl.ParseTable(exprTable)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(exprTable); err != nil {
		t.Fatal(err)
	}
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, 1)), columns: exprColumns}
	var rows []rowOf
	compared, refused := 0, 0
	for n := 0; compared < *exprRows && !t.Failed(); n++ {
		if n%100 == 0 {
			rows = fillRows(t, c, g, 20)
		}
		text := g.expr(1 + g.IntN(5))
		x, err := expr.Compile(text, table, expr.Check)
		if err != nil {
			if refused++; !refusedByC(t, c, text) {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		compareValues(t, c, text, x, rows)
		compared += len(rows)
	}
	t.Logf("%d values, %d expressions refused by both", compared, refused)
}

func refusedByC(t *testing.T, c *judge.Conn, text string) bool {
	for _, err := range c.Rows(t.Context(), "SELECT "+text+" FROM t LIMIT 0") {
		return err != nil
	}
	return false
}

func compareValues(t *testing.T, c *judge.Conn, text string, x *expr.Expr, rows []rowOf) {
	t.Helper()
	i := 0
	for row, err := range c.Rows(t.Context(), "SELECT x, typeof(x) FROM (SELECT ("+text+") AS x, h FROM t ORDER BY h LIMIT -1)") {
		if err != nil {
			if i >= len(rows) {
				t.Errorf("%s: %v", text, err)
				return
			}
			if _, mine := x.Eval(rows[i]); mine == nil && !overflows(err) {
				t.Errorf("%s: row %d: SQLite: %v", text, i, err)
			}
			return
		}
		want := valueOf(t, row[0], row[1])
		got, err := x.Eval(rows[i])
		if err != nil && !overflows(err) {
			t.Errorf("%s: row %d: %v, SQLite: %s", text, i, err, show(want))
			return
		} else if err == nil && !same(got, want) {
			t.Errorf("%s: row %v:\nwe say %s\nSQLite %s", text, showRow(rows[i]), show(got), show(want))
			return
		}
		i++
	}
}

func showRow(r rowOf) string {
	var list []string
	for _, v := range r {
		list = append(list, show(v))
	}
	return strings.Join(list, " | ")
}

// overflows reports whether an error is that of abs for the smallest integer. SQLite evaluates
// constants first, and may pass over what comes after AND and OR, so that either may find it alone.
func overflows(err error) bool { return strings.Contains(err.Error(), "integer overflow") }

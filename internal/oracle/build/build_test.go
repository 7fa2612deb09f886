// Package build judges the bulk loader: databases of random schemas and rows are built, and C
// SQLite compares them with its own of the same statements.
package build

import (
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

var (
	schemas = flag.Int("schemas", 200, "random schemas to build")
	seed    = flag.Uint64("seed", 0, "seed of the first schema; 0 means the usual ones")
)

// TestBuild compares as many databases as the flag says.
func TestBuild(t *testing.T) {
	if !judge.Available {
		t.Skip("skipped: no C compiler, so no C SQLite to judge by")
	}
	first := uint64(1)
	if *seed != 0 {
		first = *seed
	}
	for i := range *schemas {
		n := first + uint64(i)
		t.Run(fmt.Sprint("seed=", n), func(t *testing.T) {
			t.Parallel()
			compareBuild(t, rand.New(rand.NewPCG(n, 0)))
		})
	}
}

func compareBuild(t *testing.T, r *rand.Rand) {
	c := open(t, ":memory:")
	table := randomTable(r, 1+r.IntN(600))
	for _, s := range table.sql {
		if err := c.Exec(s); err != nil {
			t.Skipf("C refuses %s: %v", s, err)
		}
	}
	taken, refused := insert(t, c, table)
	o := &sqlitefile.BuildOptions{PageSize: 512 << r.IntN(8), ReservedBytes: r.IntN(2) * r.IntN(32), SortMemory: 1 << (10 + r.IntN(16)), NoSync: true}
	path := filepath.Join(t.TempDir(), "x.db")
	if err := build(t.Context(), path, o, table, inKeyOrder(t, c, table, taken)); err != nil {
		t.Fatalf("%s\n%v", strings.Join(table.sql, "\n"), err)
	}
	compare(t, c, open(t, path), table)
	for _, bad := range refused {
		compareRefusal(t, path+"2", o, table, taken, bad)
	}
}

func open(t *testing.T, name string) *judge.Conn {
	t.Helper()
	c, err := judge.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// insert lets C have the rows, and returns those that it took and some of those that it refused.
func insert(t *testing.T, c *judge.Conn, table *table) (taken, refused []row) {
	marks := strings.Repeat(", ?", table.columns+1)
	columns := ""
	for i := range table.columns {
		columns += fmt.Sprintf("c%d, ", i)
	}
	sql := "INSERT INTO t(" + columns + "seq) VALUES(" + marks[2:] + ")"
	if !table.keyed && table.alias < 0 {
		sql = "INSERT INTO t(rowid, " + columns + "seq) VALUES(?" + marks + ")"
	}
	s, err := c.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, row := range table.rows {
		args := append([]any{}, row.values...)
		switch {
		case table.alias >= 0:
			args[table.alias] = row.rowid
		case !table.keyed:
			args = append([]any{row.rowid}, args...)
		}
		if err := s.Exec(args...); err == nil {
			taken = append(taken, row)
		} else if len(refused) < 3 {
			refused = append(refused, row)
		}
	}
	return taken, refused
}

// inKeyOrder returns the rows of a table WITHOUT ROWID in the order of its key: that in which C
// keeps them.
func inKeyOrder(t *testing.T, c *judge.Conn, table *table, rows []row) []row {
	if !table.keyed {
		return rows
	}
	bySeq := map[int64]row{}
	for _, r := range rows {
		bySeq[r.values[table.columns].(int64)] = r
	}
	var sorted []row
	for row, err := range c.Rows(t.Context(), "SELECT seq FROM t NOT INDEXED") {
		if err != nil {
			t.Fatal(err)
		}
		sorted = append(sorted, bySeq[row[0].(int64)])
	}
	return sorted
}

func build(ctx context.Context, path string, o *sqlitefile.BuildOptions, table *table, rows []row) error {
	return sqlitefile.Build(ctx, path, o, func(b *sqlitefile.Builder) error {
		for _, s := range table.sql {
			if err := b.Create(s); err != nil {
				return err
			}
		}
		t, err := b.Table("t")
		if err != nil {
			return err
		}
		for _, r := range rows {
			if table.keyed {
				err = t.AppendKey(r.values...)
			} else {
				err = t.Append(r.rowid, r.values...)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// compareRefusal builds the rows once more with one that C has refused among them.
func compareRefusal(t *testing.T, path string, o *sqlitefile.BuildOptions, table *table, taken []row, bad row) {
	rows := []row{bad}
	for _, r := range taken {
		if r.rowid < bad.rowid {
			rows = append(rows[:len(rows)-1], r, bad)
		} else {
			rows = append(rows, r)
		}
	}
	if err := build(t.Context(), path, o, table, rows); err == nil {
		t.Errorf("%s\nbuilt with a row that C refuses: %#v", strings.Join(table.sql, "\n"), bad)
	} else if !table.keyed && !errors.Is(err, sqlitefile.ErrConstraint) {
		t.Errorf("%s\ngot %v for a row that C refuses: %#v", strings.Join(table.sql, "\n"), err, bad)
	}
}

// compare compares the database that C made with ours.
func compare(t *testing.T, c, ours *judge.Conn, table *table) {
	t.Helper()
	if got := all(t, ours, "PRAGMA integrity_check"); got != "ok\n" {
		t.Fatalf("%s\n%s", strings.Join(table.sql, "\n"), got)
	}
	rowid := "rowid"
	if table.keyed {
		rowid = "0"
	}
	values := ""
	for i := range table.columns {
		values += fmt.Sprintf(", typeof(c%d), c%d", i, i)
	}
	same(t, c, ours, table, "SELECT type, name, tbl_name, sql FROM sqlite_schema")
	same(t, c, ours, table, "SELECT "+rowid+", seq"+values+" FROM t")
	if strings.Contains(table.sql[0], "AUTOINCREMENT") {
		same(t, c, ours, table, "SELECT * FROM sqlite_sequence")
	}
	for i, x := range table.indexes {
		compareIndex(t, c, ours, table, x, table.indexColumns[i])
	}
}

// compareIndex reads both databases in the order of an index, and finds rows by it.
func compareIndex(t *testing.T, c, ours *judge.Conn, table *table, index, column string) {
	t.Helper()
	same(t, c, ours, table, "SELECT seq FROM t INDEXED BY "+index+" WHERE "+column+" IS NULL")
	same(t, c, ours, table, "SELECT seq FROM t INDEXED BY "+index+" WHERE "+column+" > -1")
	for _, row := range table.rows[:min(20, len(table.rows))] {
		seq := row.values[table.columns]
		find := "SELECT seq FROM t INDEXED BY " + index + " WHERE " + column + " = (SELECT " + column[:2] + " FROM t WHERE seq = ?)"
		same(t, c, ours, table, find, seq)
		if plan := all(t, ours, "EXPLAIN QUERY PLAN "+find, seq); !strings.Contains(plan, "SEARCH") || !strings.Contains(plan, "INDEX "+index) {
			t.Errorf("%s does not use the index:\n%s", find, plan)
		}
	}
}

func same(t *testing.T, c, ours *judge.Conn, table *table, query string, args ...any) {
	t.Helper()
	want, got := all(t, c, query, args...), all(t, ours, query, args...)
	if want == got {
		return
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Fatalf("%s\n%s\nrow %d: C:    %.2000s\n        ours: %.2000s", strings.Join(table.sql, "\n"), query, i, w[i], g[i])
		}
	}
	t.Fatalf("%s\n%s\n%d rows in C, %d in ours", strings.Join(table.sql, "\n"), query, len(w), len(g))
}

// all returns the rows of a query as lines.
func all(t *testing.T, c *judge.Conn, query string, args ...any) string {
	t.Helper()
	var b strings.Builder
	for row, err := range c.Rows(t.Context(), query, args...) {
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		b.WriteString(line(row))
	}
	return b.String()
}

func line(row []driver.Value) string {
	if len(row) == 1 {
		return fmt.Sprintf("%v\n", row[0])
	}
	return fmt.Sprintf("%#v\n", row)
}

// TestFloatText compares the texts of floats in a TEXT column. C calculates them in 96 bits, which
// rounds the last digit of few floats down where it should be up, or up for down: these are still
// the same floats.
func TestFloatText(t *testing.T) {
	if !judge.Available {
		t.Skip("skipped: no C compiler, so no C SQLite to judge by")
	}
	const n = 20_000
	r := rand.New(rand.NewPCG(1, 1))
	table := &table{columns: 1, alias: -1, sql: []string{"CREATE TABLE t(c0 TEXT, seq INTEGER)"}}
	for i := range n {
		f := math.Float64frombits(r.Uint64())
		if i%2 == 0 {
			f = float64(r.Int64N(1<<40)) / math.Pow10(r.IntN(20))
		}
		table.rows = append(table.rows, row{int64(i), []any{f, int64(i)}})
	}
	c := open(t, ":memory:")
	if err := c.Exec(table.sql[0]); err != nil {
		t.Fatal(err)
	}
	insert(t, c, table)
	path := filepath.Join(t.TempDir(), "x.db")
	if err := build(t.Context(), path, nil, table, table.rows); err != nil {
		t.Fatal(err)
	}
	texts, err := open(t, path).Strings(t.Context(), "SELECT c0 FROM t")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := c.Strings(t.Context(), "SELECT c0 FROM t")
	if err != nil {
		t.Fatal(err)
	}
	different := 0
	for i, text := range texts {
		want := table.rows[i].values[0].(float64)
		if got, err := strconv.ParseFloat(text, 64); want == want && (err != nil || got != want) {
			t.Errorf("%v became %s", want, text)
		}
		if text != theirs[i] {
			different++
		}
	}
	t.Logf("%d of %d texts differ from C's", different, n)
	if different > n/500 {
		t.Errorf("%d of %d texts differ from C's", different, n)
	}
}

package queries

import (
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlite"
)

// TestReducedJoin reads a view twice: as it is, so that it becomes a part of the query around it
// before WHERE makes inner joins of the outer ones, and as a table with the same rows. C SQLite
// loses the condition of such a view, so that it is no judge.
func TestReducedJoin(t *testing.T) {
	if !judge.Available {
		t.Skip("needs cgo")
	}
	file := filepath.Join(t.TempDir(), "reduced.db")
	c, err := judge.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"CREATE TABLE t(a, b)", "INSERT INTO t VALUES (1, 2), (2, 7), (NULL, 1), (5, 5)",
		"CREATE TABLE u(a)", "INSERT INTO u VALUES (0), (1), (NULL)",
		"CREATE TABLE w(b, c)", "INSERT INTO w VALUES (0, 'x'), (1, 'y'), (7, '')",
		"CREATE VIEW v(a) AS SELECT x IS TRUE FROM (SELECT l.rowid AS x, r.a AS y FROM t AS l FULL JOIN t AS r ON r.a = l.b) WHERE y IS NOT 2",
		"CREATE TABLE rows AS SELECT * FROM v",
	} {
		if err := c.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	ours, err := sqlite.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	const rest = " AS v LEFT JOIN u ON u.a = v.a FULL JOIN w ON w.b = u.a WHERE u.a < w.c"
	want, err := ask(ours, "SELECT v.a, u.a, w.b FROM rows"+rest+" ORDER BY 1, 2, 3")
	if err != nil || len(want) < 4 {
		t.Fatalf("%v, %v", want, err)
	}
	got, err := ask(ours, "SELECT v.a, u.a, w.b FROM v"+rest+" ORDER BY 1, 2, 3")
	if err != nil || len(got) != len(want) {
		t.Errorf("the view gives %d rows, %v; the table gives %d", len(got), err, len(want))
	}
}

package queries

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// shapesRefused is how many of the statements of TestShapes are refused as not supported yet. It
// must only become smaller.
const shapesRefused = 7

// TestShapes compares the answers and errors of statements that were written by hand, one a line of
// testdata/shapes.sql, each for a rule of SQLite that is easily missed.
func TestShapes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shapes.db")
	c, err := sql.Open("sqlite3", path)
	must.Do(t, err)
	defer c.Close()
	schema, err := os.ReadFile("testdata/shapes_schema.sql")
	must.Do(t, err)
	_, err = c.Exec(string(schema))
	must.Do(t, err)
	ours, err := sql.Open("folio", path)
	must.Do(t, err)
	defer ours.Close()
	list, err := os.ReadFile("testdata/shapes.sql")
	must.Do(t, err)
	refused := 0
	for text := range strings.Lines(string(list)) {
		text = strings.TrimSpace(text)
		got := shapeOf(ours, text)
		if strings.HasPrefix(got, "error: not supported yet") {
			refused++
			continue
		}
		if want := shapeOf(c, text); got != want {
			t.Errorf("%s\nours: %s\nC:    %s", text, got, want)
		}
	}
	if refused != shapesRefused {
		t.Errorf("%d statements refused, want %d", refused, shapesRefused)
	}
}

// TestTooLong compares the errors of statements that are longer than SQLite takes, and the answers
// of the longest that it does take.
func TestTooLong(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "long.db")
	c, err := sql.Open("sqlite3", path)
	must.Do(t, err)
	defer c.Close()
	_, err = c.Exec("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
	must.Do(t, err)
	ours, err := sql.Open("folio", path)
	must.Do(t, err)
	defer ours.Close()
	for _, n := range []int{2000, 2001} {
		list := strings.Repeat("1, ", n-1) + "1"
		for _, text := range []string{
			"SELECT " + list, "SELECT missing, " + list, "SELECT " + list + " FROM missing", "VALUES (" + list + ")",
			"VALUES (" + list + "), (" + list + ")", "SELECT 1 UNION SELECT " + list, "SELECT EXISTS (SELECT " + list + ")",
			"SELECT 1 WHERE 1 IN (SELECT " + list + ")", "SELECT " + strings.Repeat("*, ", n/2) + "1 FROM t",
			"SELECT 1 ORDER BY " + list, "SELECT missing ORDER BY " + list, "SELECT 1 FROM t GROUP BY " + list,
			"SELECT 1 UNION SELECT 2 ORDER BY " + list,
		} {
			if got, want := shapeOf(ours, text), shapeOf(c, text); got != want {
				t.Errorf("%.40s... of %d: ours %.80s, C %.80s", text, n, got, want)
			}
		}
	}
	var list strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&list, "%d, ", i)
	}
	text := "SELECT a FROM t WHERE b IN (" + list.String() + "0)"
	if got, want := shapeOf(ours, text), shapeOf(c, text); got != want {
		t.Errorf("a long list: ours %.80s, C %.80s", got, want)
	}
}

// shapeOf returns the names of the columns and the rows of a statement, sorted unless it has an
// ORDER BY, or its error.
func shapeOf(db *sql.DB, text string) string {
	rows, err := db.Query(text)
	if err != nil {
		return "error: " + err.Error()
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for rows.Next() {
		values, dest := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return "error: " + err.Error()
		}
		line := ""
		for _, v := range values {
			line += fmt.Sprintf("%T:%v|", v, v)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		return "error: " + err.Error()
	}
	if !strings.Contains(text, "ORDER BY") {
		slices.Sort(lines)
	}
	return strings.Join(append(names, lines...), "\n")
}

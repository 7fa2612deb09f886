package queries

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// reportsRefused is how many of the queries of TestReports are refused as not supported yet. It
// must only become smaller.
const reportsRefused = 2

// TestReports compares the answers to queries of testdata/reports.sql. Each of its paragraphs has
// the shape of public bug reports about wrong answers of SQL engines, SQLite among them: a line
// that says which, the statements that make a database, and queries.
func TestReports(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("testdata/reports.sql")
	must.Do(t, err)
	reports := strings.Split(strings.TrimSpace(string(list)), "\n\n")
	asked, refused := 0, 0
	for _, report := range reports {
		lines := strings.Split(report, "\n")
		path := filepath.Join(t.TempDir(), "report.db")
		c, err := sql.Open("sqlite3", path+"?_sync=0")
		must.Do(t, err)
		_, err = c.Exec("CREATE TABLE unused(x)") // so that the file has a page
		must.Do(t, err)
		ours, err := sql.Open("folio", path)
		must.Do(t, err)
		for _, text := range lines[1:] {
			if !isQuery(text) {
				if _, err := c.Exec(text); err != nil {
					t.Errorf("%s\n%s: %v", lines[0], text, err)
				}
				continue
			}
			asked++
			got := shapeOf(ours, text)
			if strings.HasPrefix(got, "error: not supported yet") {
				refused++
				t.Logf("%s\n%s", text, got)
				continue
			}
			if want := shapeOf(c, text); got != want {
				t.Errorf("%s\n%s\nours: %s\nC:    %s", lines[0], text, got, want)
			}
		}
		ours.Close()
		c.Close()
	}
	t.Logf("%d reports, %d queries, %d of them refused", len(reports), asked, refused)
	if refused != reportsRefused {
		t.Errorf("%d queries refused, want %d", refused, reportsRefused)
	}
}

func isQuery(text string) bool {
	return strings.HasPrefix(text, "SELECT ") || strings.HasPrefix(text, "VALUES ") || strings.HasPrefix(text, "WITH ") && !strings.Contains(text, "INSERT ")
}

package suite

import (
	"context"
	"database/sql"
	"os/exec"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// judge checks a volume that was closed in three ways: by the driver's SQLite, by the sqlite3
// program, which is SQLite in C, if there is one, and by the engine, as the command "folio check"
// does.
func (d *Driver) judge(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open(d.Name, d.dsn(path))
	must.Do(t, err)
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		if said := d.ask(t, db, pragma); said != "" && said != "ok" {
			t.Errorf("PRAGMA %s says %s", pragma, said)
		}
	}
	must.Do(t, db.Close())
	if shell, err := exec.LookPath("sqlite3"); err == nil {
		out, err := exec.Command(shell, "-batch", path, "PRAGMA integrity_check; PRAGMA foreign_key_check").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != "ok" {
			t.Errorf("sqlite3 says %s, %v", got, err)
		}
	}
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	if report, err := v.Check(context.Background(), nil); err != nil || !report.OK() {
		t.Errorf("the engine says %v, %+v", err, report)
	}
	must.Do(t, v.Close())
}

// ask returns the result of a pragma, in a line.
func (d *Driver) ask(t *testing.T, db *sql.DB, pragma string) string {
	t.Helper()
	rows, err := db.Query("PRAGMA " + pragma)
	must.Do(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must.Do(t, err)
	var said []string
	for rows.Next() {
		cells, dest := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			dest[i] = &cells[i]
		}
		must.Do(t, rows.Scan(dest...))
		for _, c := range cells {
			said = append(said, c.String)
		}
	}
	must.Do(t, rows.Err())
	return strings.Join(said, " ")
}

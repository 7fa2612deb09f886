package suite

import (
	"database/sql"
	"os/exec"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// Judge checks a volume that was closed in three ways: by the driver's SQLite, by the sqlite3
// program, which is SQLite in C, if there is one, and by the engine, as the command "folio check"
// does.
func (d *Driver) Judge(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open(d.Name, path)
	must.Do(t, err)
	for _, query := range []string{"SELECT group_concat(integrity_check) FROM pragma_integrity_check", "SELECT count(*) || ' rows' FROM pragma_foreign_key_check"} {
		var said string
		must.Do(t, db.QueryRow(query).Scan(&said))
		if said != "ok" && said != "0 rows" {
			t.Errorf("%s: %s", query, said)
		}
	}
	must.Do(t, db.Close())
	if shell, err := exec.LookPath("sqlite3"); err == nil {
		out, err := exec.Command(shell, "-batch", path, "PRAGMA integrity_check; PRAGMA foreign_key_check").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != "ok" {
			t.Errorf("sqlite3 says %s, %v", got, err)
		}
	}
	volumetest.WantClean(t, volumetest.Open(t, path))
}

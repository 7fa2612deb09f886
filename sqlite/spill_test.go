package sqlite_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

// TestSpillNowhere sorts more rows than memory may hold, where no temporary file can be made. The
// error names the directory, and how to choose another one; smaller queries go on.
func TestSpillNowhere(t *testing.T) {
	const rows = 5000
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	path := filepath.Join(dir, "test.db")
	f, err := sqlitefile.Open(path, &sqlitefile.Options{Create: true})
	must.Do(t, err)
	must.Do(t, f.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		if err := tx.Exec("CREATE TABLE t(a, b)"); err != nil {
			return err
		}
		table, err := tx.Table("t")
		for i := 0; err == nil && i < rows; i++ {
			_, err = table.Insert(strings.Repeat("x", 1000), i)
		}
		return err
	}))
	must.Do(t, f.Close())
	t.Setenv("TMPDIR", missing)
	t.Setenv("TMP", missing) // of Windows
	db, err := sqlite.Open(path, &sqlite.Options{SortMemory: 1})
	must.Do(t, err)
	defer db.Close()
	for _, query := range []string{"SELECT b FROM t ORDER BY a", "SELECT b, count(*) FROM t GROUP BY b"} {
		var failed error
		for _, err := range db.Query(t.Context(), query) {
			failed = err
		}
		e, ok := errors.AsType[*sqlite.Error](failed)
		if !ok || e.Code != sqlite.CodeIO || !strings.Contains(e.Message, missing) || !strings.Contains(e.Message, "TMPDIR") {
			t.Errorf("%s: %v", query, failed)
		}
	}
	read := 0
	for _, err := range db.Query(t.Context(), "SELECT b FROM t") {
		must.Do(t, err)
		read++
	}
	if read != rows {
		t.Errorf("%d rows", read)
	}
}

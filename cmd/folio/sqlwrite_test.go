package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/sqlite"
)

// TestSQLWrites changes a database that is no volume by folio sql, dumps it, imports lines, and
// copies it.
func TestSQLWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, lines, damaged, saved := filepath.Join(dir, "app.db"), filepath.Join(dir, "lines.csv"), filepath.Join(dir, "damaged.csv"), filepath.Join(dir, "saved.db")
	db, err := sqlite.Open(path, &sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{lines: "id,name\n1,\"a 'b'\"\n2,\n", damaged: "3,c\n4\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "sql", path, ".import "+lines+" note", "UPDATE note SET name = 'two' WHERE id = 2", ".backup "+saved)
	if code, _, _ := runFolio(t, "sql", path, ".import "+damaged+" note"); code == exitOK {
		t.Error("a damaged file was imported")
	}
	mustRun(t, "sql", path, "BEGIN", "DELETE FROM note") // rolled back at the end
	want := strings.Join([]string{
		`PRAGMA foreign_keys=OFF;`, `BEGIN TRANSACTION;`, `CREATE TABLE "note" ("id" TEXT, "name" TEXT);`,
		`INSERT INTO "note" VALUES('1','a ''b''');`, `INSERT INTO "note" VALUES('2','two');`, `COMMIT;`, ``,
	}, "\n")
	for _, file := range []string{path, saved} {
		if got := mustRun(t, "sql", file, ".dump"); got != want {
			t.Errorf("%s: %s", file, got)
		}
	}
}

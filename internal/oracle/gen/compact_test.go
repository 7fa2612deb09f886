package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// settings are the settings that Compact keeps besides the rows.
var settings = []string{
	"page_size", "encoding", "auto_vacuum", "application_id", "user_version", "journal_mode", "default_cache_size",
}

// TestCompact compacts every kind of database: C SQLite finds the result sound, reads the same rows
// under the same rowids, and would have made it no smaller by VACUUM INTO; and ours reads it as C
// SQLite does.
func TestCompact(t *testing.T) {
	if !judge.Available {
		t.Skip("C SQLite: no C compiler in this build")
	}
	perCombo := 1
	if *full {
		perCombo = len(Kinds)
	}
	specs := Specs(*seed, perCombo)
	t.Logf("%d databases, seed %d", len(specs), *seed)
	for i, s := range specs {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, original, vacuumed := filepath.Join(dir, "x.db"), filepath.Join(dir, "original.db"), filepath.Join(dir, "vacuumed.db")
			if err := s.Write(path); err != nil {
				t.Fatal(err)
			}
			prepare := "PRAGMA application_id = 77; PRAGMA user_version = -8;"
			if i%2 == 1 {
				prepare += "PRAGMA journal_mode = WAL;"
			}
			ask(t, path, prepare)
			copyTo(t, original, path)
			ask(t, path, fmt.Sprintf("VACUUM INTO '%s';", vacuumed)) // which keeps rowids, as Compact does, and the other VACUUM does not
			compact(t, path)
			compareSizes(t, s, path, vacuumed)
			if got := ask(t, path, "PRAGMA integrity_check"); !slices.Equal(got, []string{"ok"}) {
				t.Errorf("%v", got)
			}
			for _, name := range settings {
				if got, want := ask(t, path, "PRAGMA "+name), ask(t, original, "PRAGMA "+name); !slices.Equal(got, want) {
					t.Errorf("%s is %v, was %v", name, got, want)
				}
			}
			compareSources(t, s, path, original)
		})
	}
}

// compareSizes compares the sizes of the files of Compact and VACUUM INTO. VACUUM has its own order
// of the rows of sqlite_schema. If that is not ours, its pages may hold one row more or less.
func compareSizes(t *testing.T, s Spec, path, vacuumed string) {
	t.Helper()
	const order = "SELECT name FROM sqlite_schema"
	got, want := sizeOf(t, path), sizeOf(t, vacuumed)
	if !slices.Equal(ask(t, path, order), ask(t, vacuumed, order)) {
		want += int64(s.PageSize)
	}
	if got > want {
		t.Errorf("%d bytes, VACUUM leaves %d", got, want)
	}
}

func compact(t *testing.T, path string) {
	t.Helper()
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Durability: sqlitefile.DurabilityOff})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Compact(t.Context(), nil), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// compareSources compares the rows that C SQLite reads of both files, and those that our engine
// reads of the first.
func compareSources(t *testing.T, s Spec, path, original string) {
	t.Helper()
	after, err := readSource(path)
	if err != nil {
		t.Fatal(err)
	}
	defer after.conn.Close()
	before, err := readSource(original)
	if err != nil {
		t.Fatal(err)
	}
	defer before.conn.Close()
	const schema = "SELECT quote(rowid) || quote(type) || quote(name) || quote(tbl_name) || quote(sql) FROM sqlite_schema ORDER BY rowid"
	if got, want := ask(t, path, schema), ask(t, original, schema); !slices.Equal(got, want) {
		t.Errorf("the schema is %v, was %v", got, want)
	}
	for i, was := range before.tables {
		is := after.tables[i]
		if !reflect.DeepEqual(is.rows, was.rows) || !reflect.DeepEqual(is.rowids, was.rowids) {
			t.Errorf("table %s has other rows", was.Name)
		}
	}
	if err := compare(s, after, path, false); err != nil {
		t.Error(err)
	}
}

// ask opens a database by C SQLite, and returns the first column of the rows of the statements.
func ask(t *testing.T, path, query string) []string {
	t.Helper()
	c, err := judge.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if strings.HasSuffix(query, ";") {
		if err := c.Exec(query); err != nil {
			t.Fatal(err)
		}
		return nil
	}
	rows, err := c.Strings(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func copyTo(t *testing.T, to, from string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

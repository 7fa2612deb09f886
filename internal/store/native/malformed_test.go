package native

import (
	"context"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/repair"
	"github.com/foliofs/folio/sqlitefile"
)

// damageObject changes the row of sqlite_schema of that name.
func damageObject(t *testing.T, path, name string, change func(o *sqlitefile.Object)) {
	t.Helper()
	db, err := sqlitefile.Open(path, nil)
	must.Do(t, err)
	must.Do(t, db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		objects, err := tx.Objects()
		for i, o := range objects {
			if o.Name == name {
				change(&o)
				return errors.Join(err, tx.ReplaceObject(i, o))
			}
		}
		return errors.New("there is no " + name)
	}))
	must.Do(t, db.Close())
}

// schemaDamages are changes of rows of sqlite_schema.
var schemaDamages = map[string]struct {
	object string
	change func(o *sqlitefile.Object)
	opens  bool // by Open
}{
	"word of the view":     {"file", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "WITH RECURSIVE", "WITH RECURSIVX", 1) }, true},
	"number in the view":   {"file", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "WHEN 1 THEN", "WHEN 9 THEN", 1) }, true},
	"quote in the view":    {"file", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "'dir'", "'dir ", 1) }, true},
	"name of the view":     {"file", func(o *sqlitefile.Object) { o.Name = "fil\x01" }, true},
	"table of the view":    {"file", func(o *sqlitefile.Object) { o.Table = "elif" }, true},
	"type of the view":     {"file", func(o *sqlitefile.Object) { o.Type = "vieu" }, true},
	"all of the view":      {"file", func(o *sqlitefile.Object) { o.SQL = strings.Repeat("x", len(o.SQL)) }, true},
	"text of entry":        {"entry", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "PRIMARY KEY", "PRIMARY KEX", 1) }, false},
	"columns of node":      {"node", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "nlink", "nlinx", 1) }, false},
	"type of a column":     {"node", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "mode     INTEGER", "mode     INTEGXR", 1) }, true},
	"name of data":         {"data", func(o *sqlitefile.Object) { o.Name = "dat" }, false},
	"comment in xattr":     {"orphan", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "in use", "in xxx", 1) }, true},
	"text of xattr":        {"xattr", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "CREATE", "CREAT\x00", 1) }, false},
	"parenthesis of entry": {"entry", func(o *sqlitefile.Object) { o.SQL = strings.Replace(o.SQL, "(parent, name)", "(parent, name(", 1) }, false},
}

// TestSchemaDamage damages rows of sqlite_schema. Check names the damage, writing is refused in one
// line with the way out, and Repair writes the row again, so that the volume is whole and SQLite
// opens it.
func TestSchemaDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range schemaDamages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "volume.folio")
			must.Do(t, Create(context.Background(), path, new(CreateOptions), func(b *Builder) error { return writeFiles(b, 3) }))
			damageObject(t, path, damage.object, damage.change)
			s, err := Open(path, nil)
			if (err == nil) != damage.opens {
				t.Errorf("Open: %v, want success %v", err, damage.opens)
			}
			if err == nil {
				checkSchemaDamage(t, s)
				must.Do(t, s.Close())
			} else if text := err.Error(); !strings.Contains(text, "folio check --repair") || strings.Contains(text, "\n") {
				t.Errorf("Open: %q does not name the way out on one line", text)
			}
			if err != nil {
				repairs, err := repair.Schema(context.Background(), path)
				if err != nil || len(repairs) != 1 {
					t.Errorf("RepairSchema: %v, %v", repairs, err)
				}
			}
			mustBeSound(t, path)
		})
	}
}

// checkSchemaDamage checks an open volume whose schema is damaged, and repairs it.
func checkSchemaDamage(t *testing.T, s *Store) {
	t.Helper()
	r, err := s.Check(context.Background(), nil)
	if err != nil || len(r.Problems) != 1 {
		t.Errorf("Check: %+v, %v, want one problem", r, err)
	}
	err = s.Update(context.Background(), func(store.Tx) error { return nil })
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "folio check --repair") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Update: %v, want ErrDamaged with the way out", err)
	}
	report, err := s.Repair(context.Background())
	if err != nil || !report.OK() || len(report.Repairs) != 1 {
		t.Errorf("Repair: %+v, %v, want one repair", report, err)
	}
	must.Do(t, s.Update(context.Background(), func(store.Tx) error { return nil }))
}

// mustBeSound checks that nothing is wrong with a volume, and that SQLite opens it.
func mustBeSound(t *testing.T, path string) {
	t.Helper()
	s, err := Open(path, nil)
	must.Do(t, err)
	if r, err := s.Check(context.Background(), nil); err != nil || !r.OK() {
		t.Errorf("Check after the repair: %+v, %v", r, err)
	}
	must.Do(t, s.Close())
	sqlite3, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3")
	}
	out, err := exec.Command(sqlite3, path, "PRAGMA integrity_check; SELECT count(*) FROM file").CombinedOutput()
	if err != nil || string(out) != "ok\n3\n" {
		t.Errorf("sqlite3: %s, %v", out, err)
	}
}

// TestForeignSchema checks that objects that other programs may add to a volume are no damage, and
// that a volume can be written whose view file is another one, which Check names.
func TestForeignSchema(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "volume.folio")
	must.Do(t, Create(context.Background(), path, new(CreateOptions), func(b *Builder) error { return writeFiles(b, 3) }))
	db, err := sqlitefile.Open(path, nil)
	must.Do(t, err)
	must.Do(t, db.Exec(context.Background(), `CREATE TABLE tags (ino INTEGER, tag TEXT UNIQUE, PRIMARY KEY (ino, tag));
		CREATE INDEX by_ino ON entry (ino); CREATE VIEW names AS SELECT name FROM entry`))
	must.Do(t, db.Close())
	s, err := Open(path, nil)
	must.Do(t, err)
	defer s.Close()
	if r, err := s.Check(context.Background(), nil); err != nil || !r.OK() {
		t.Errorf("Check: %+v, %v", r, err)
	}
	must.Do(t, s.db.Exec(context.Background(), "DROP VIEW file; CREATE VIEW file AS SELECT 1 AS path"))
	if r, err := s.Check(context.Background(), nil); err != nil || len(r.Problems) != 4 {
		t.Errorf("Check with another view file: %+v, %v, want it and three triggers", r, err)
	}
	must.Do(t, s.Update(context.Background(), func(store.Tx) error { return nil }))
}

// TestRandomSchemaDamage changes bytes in the schema's page at random. Where SQLite cannot open the
// volume, Check has something against it.
func TestRandomSchemaDamage(t *testing.T) {
	t.Parallel()
	sqlite3, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3")
	}
	t.Logf("seed %d", *checkSeed)
	r := rand.New(rand.NewPCG(*checkSeed, 2))
	for range 30 {
		path := filepath.Join(t.TempDir(), "volume.folio")
		must.Do(t, Create(context.Background(), path, new(CreateOptions), func(b *Builder) error { return writeFiles(b, 3) }))
		own := repair.OwnObjects()
		at := own[r.IntN(len(own))]
		damageObject(t, path, at.Name, func(o *sqlitefile.Object) {
			text := []byte(o.SQL)
			for range 1 + r.IntN(3) {
				text[r.IntN(len(text))] = byte(1 + r.IntN(255))
			}
			o.SQL = string(text)
		})
		out, err := exec.Command(sqlite3, "-readonly", path, "SELECT count(*) FROM file").CombinedOutput()
		s, openErr := Open(path, nil)
		if openErr != nil {
			continue
		}
		report, checkErr := s.Check(context.Background(), nil)
		if err != nil && checkErr == nil && report.OK() {
			t.Errorf("Check says ok, SQLite says %s", out)
		}
		must.Do(t, s.Close())
	}
}

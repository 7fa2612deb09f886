package volumetest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// addedBase makes a volume and runs SQL on it that adds something to its tables.
func addedBase(t *testing.T, sql string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "v.folio")
	must.Do(t, folio.Create(t.Context(), path, nil, AddAll(
		Entry{"f", "old", 0o644}, Entry{"d/g", strings.Repeat("chunks", 50_000), 0o644}, Entry{"l", "f", Link})))
	sqlite(t, path, sql)
	return path
}

// TestAddedColumns writes to a volume whose tables got further columns. Rows must keep their values
// in them, new rows must get the defaults, and SQLite must find nothing wrong.
func TestAddedColumns(t *testing.T) {
	t.Parallel()
	path := addedBase(t, `
		ALTER TABLE node ADD COLUMN tag TEXT;
		ALTER TABLE node ADD COLUMN n INTEGER NOT NULL DEFAULT 7;
		ALTER TABLE entry ADD COLUMN tag TEXT NOT NULL DEFAULT 'new';
		ALTER TABLE data ADD COLUMN tag DEFAULT x'beef';
		ALTER TABLE data ADD COLUMN k REAL DEFAULT 1.5;
		ALTER TABLE xattr ADD COLUMN tag TEXT DEFAULT 'new';
		CREATE INDEX by_tag ON node (tag, n);
		CREATE INDEX by_chunk ON data (tag);
		CREATE INDEX by_inode ON entry (ino);
		CREATE TABLE other (a UNIQUE CHECK (a > 0));
		CREATE TRIGGER others AFTER INSERT ON other BEGIN DELETE FROM other; END;
		CREATE VIEW small AS SELECT * FROM node WHERE size < 10;
		UPDATE node SET tag = 'kept ' || ino, n = ino;
		UPDATE entry SET tag = 'kept ' || name;
		UPDATE data SET tag = 'kept', k = 2.5;`)
	before := sqlite(t, path, "SELECT ino, tag, n FROM node WHERE ino > 1; SELECT name, tag FROM entry ORDER BY name; SELECT id, tag, k FROM data WHERE tag = 'kept'")
	v := Open(t, path)
	content := bytes.Repeat([]byte("content"), 30_000)
	must.Do(t, v.SetXattr("f", "user.a", []byte("1")))
	sqlite(t, path, "UPDATE xattr SET tag = 'kept'")
	must.Do(t, v.SetXattr("f", "user.a", []byte("2")))
	must.Do(t, v.WriteFile("f", []byte("new"), 0o644))
	must.Do(t, v.WriteFile("made", content, 0o644))
	must.Do(t, v.Chmod("l", 0o600))
	must.Do(t, v.Chtimes("d/g", time.Unix(1e9, 0), time.Unix(1e9, 0)))
	f, err := v.OpenFile("d/g", os.O_RDWR, 0)
	must.Do(t, err)
	must.Do(t, must.Second(f.WriteAt([]byte("within"), 70_000)))
	must.Do(t, f.Truncate(290_000))
	must.Do(t, must.Second(f.WriteAt([]byte("beyond"), 299_990)))
	must.Do(t, f.Close())
	if after := sqlite(t, path, "SELECT ino, tag, n FROM node WHERE tag > '' AND ino > 1; SELECT name, tag FROM entry WHERE tag <> 'new' ORDER BY name; SELECT id, tag, k FROM data WHERE tag = 'kept'"); after != before {
		t.Errorf("the further columns were\n%s\nand are\n%s", before, after)
	}
	for sql, want := range map[string]string{
		"SELECT n, node.tag IS NULL FROM node JOIN entry USING (ino) WHERE name = 'made'":              "7|1",
		"SELECT tag FROM entry WHERE name = 'made'":                                                    "new",
		"SELECT DISTINCT hex(data.tag), k FROM data JOIN entry ON ino = id >> 28 WHERE name = 'made'":  "BEEF|1.5",
		"SELECT tag, CAST(value AS TEXT) FROM xattr":                                                   "kept|2",
		"SELECT CAST(content AS TEXT) FROM file WHERE path = 'f'":                                      "new",
		"SELECT substr(CAST(content AS TEXT), 70001, 6), length(content) FROM file WHERE path = 'd/g'": "within|299996",
		"PRAGMA integrity_check": "ok",
	} {
		if got := sqlite(t, path, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	must.Do(t, v.Link("f", "linked"))
	must.Do(t, v.Rename("linked", "renamed"))
	must.Do(t, v.Remove("f"))
	must.Do(t, v.RemoveAll("d"))
	if p, err := v.ReadFile("made"); err != nil || !bytes.Equal(p, content) {
		t.Errorf("%d bytes, %v", len(p), err)
	}
	WantClean(t, v)
	if report, err := v.Repair(t.Context()); err != nil || len(report.Repairs) > 0 || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
	must.Do(t, v.Compact(t.Context(), nil))
	WantClean(t, v)
	if got := sqlite(t, path, "PRAGMA integrity_check"); got != "ok" {
		t.Error(got)
	}
}

// orphanAgain puts table orphan, which is empty, back as docs/reference/format.md has it.
const orphanAgain = "DROP TABLE orphan; CREATE TABLE orphan (ino INTEGER PRIMARY KEY)"

// TestAdditions adds objects to a volume that only SQLite maintains. Check must report them. The
// volume can be read, and writing to it must be refused in one line, until the object is dropped.
func TestAdditions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ sql, want, drop string }{
		"trigger":           {"CREATE TRIGGER log AFTER INSERT ON node BEGIN SELECT 1; END", `table node has the trigger "log"`, "DROP TRIGGER log"},
		"odd trigger":       {"CREATE TRIGGER \"two\nlines\" AFTER DELETE ON XATTR BEGIN SELECT 1; END", `table xattr has the trigger "two\nlines"`, "DROP TRIGGER \"two\nlines\""},
		"unique index":      {"CREATE UNIQUE INDEX one ON entry (ino)", `table entry has the index "one", which is UNIQUE`, "DROP INDEX one"},
		"partial index":     {"CREATE INDEX some ON data (id) WHERE id > 9", `table data has the index "some", which is partial`, "DROP INDEX some"},
		"expression index":  {"CREATE INDEX len ON data (length(bytes))", `table data has the index "len", which is on an expression`, "DROP INDEX len"},
		"check":             {"ALTER TABLE node ADD COLUMN x CHECK (x > 0)", "table node has a CHECK constraint", "ALTER TABLE node DROP COLUMN x"},
		"foreign key":       {"DROP TABLE orphan; CREATE TABLE orphan (ino INTEGER PRIMARY KEY, at REFERENCES other (a))", "table orphan has a foreign key", orphanAgain},
		"generated column":  {"ALTER TABLE node ADD COLUMN kind AS (mode >> 12)", `table node has the generated column "kind"`, "ALTER TABLE node DROP COLUMN kind"},
		"others' key":       {"CREATE TABLE note (ino INTEGER REFERENCES node (ino))", `table node has the foreign key of table "note" to it`, "DROP TABLE note"},
		"expression":        {"DROP TABLE orphan; CREATE TABLE orphan (ino INTEGER PRIMARY KEY, at DEFAULT CURRENT_TIMESTAMP)", `table orphan has the column "at" with an expression as its default`, "ALTER TABLE orphan DROP COLUMN at"},
		"no default":        {"DROP TABLE orphan; CREATE TABLE orphan (ino INTEGER PRIMARY KEY, at NOT NULL)", `table orphan has the column "at", which may not be NULL and has no default`, "ALTER TABLE orphan DROP COLUMN at"},
		"unique constraint": {"DROP TABLE orphan; CREATE TABLE orphan (ino INTEGER PRIMARY KEY, at UNIQUE)", "table orphan has a further UNIQUE constraint", orphanAgain},
		"other key":         {"DROP TABLE orphan; CREATE TABLE orphan (ino INT PRIMARY KEY)", "table orphan has another primary key", orphanAgain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := addedBase(t, test.sql)
			v := Open(t, path)
			wantProblem(t, v, test.want+"; drop it")
			if p, err := v.ReadFile("f"); err != nil || string(p) != "old" {
				t.Errorf("%q, %v", p, err)
			}
			_, repairErr := v.Repair(t.Context())
			for _, err := range []error{v.WriteFile("f", []byte("new"), 0o644), v.Remove("f"), v.Mkdir("x", 0o755), repairErr} {
				pe, ok := errors.AsType[*fs.PathError](err)
				if !ok || pe.Path != path || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") ||
					!errors.Is(err, folio.ErrReadOnly) || !errors.Is(err, syscall.EROFS) {
					t.Errorf("%v, want %s", err, test.want)
				}
			}
			sqlite(t, path, test.drop)
			must.Do(t, v.WriteFile("f", []byte("new"), 0o644))
			WantClean(t, v)
		})
	}
}

package volumetest

import (
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
)

// sqlite runs a statement in the sqlite3 shell, or skips the test where there is none.
func sqlite(t *testing.T, volume, sql string) string {
	t.Helper()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3 shell here to compare with")
	}
	out, err := exec.Command(shell, "-batch", "-cmd", ".timeout 10000", volume, sql).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", sql, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// sqliteFails runs a statement that fails, and returns its message.
func sqliteFails(t *testing.T, volume, sql string) string {
	t.Helper()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3 shell here to compare with")
	}
	out, err := exec.Command(shell, "-batch", "-cmd", ".timeout 10000", volume, sql).CombinedOutput()
	if err == nil {
		t.Errorf("%s: no error: %s", sql, out)
	}
	return string(out)
}

// TestSQL asks SQLite for the content of a volume, by the queries of docs/reference/format.md.
func TestSQL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.folio")
	files := append([]Entry{{"holes", strings.Repeat("\x00", 70000) + "x" + strings.Repeat("\x00", 200000), 0o644}, {"nul", "a\x00b", 0o644}}, Samples...)
	must.Do(t, folio.Create(context.Background(), path, nil, AddAll(files...)))
	for sql, want := range map[string]string{
		"PRAGMA integrity_check":    "ok",
		"PRAGMA application_id":     "1181707369",
		"PRAGMA user_version":       "1",
		"PRAGMA foreign_key_check":  "",
		"SELECT count(*) FROM file": fmt.Sprint(len(files)),
		"SELECT path, type, mode, size, mtime FROM file WHERE path = 'secret/" + LongName + "'":                                         "secret/" + LongName + "|file|4755|4|2026-11-20T01:02:03Z",
		"SELECT type, mode, content FROM file WHERE path = 'to-b'":                                                                      "symlink|0777|a/./b",
		"SELECT type, content IS NULL FROM file WHERE path = 'empty'":                                                                   "dir|1",
		"SELECT typeof(content), length(content) FROM file WHERE path = 'nothing'":                                                      "blob|0",
		"SELECT name FROM entry WHERE parent = 1 ORDER BY name LIMIT 3":                                                                 "a\na.txt\nabs",
		"SELECT ino, mode FROM node WHERE ino = 1":                                                                                      "1|16877",
		"SELECT count(*) FROM entry JOIN node USING (ino) WHERE type <> CASE mode >> 12 WHEN 8 THEN 1 WHEN 4 THEN 2 WHEN 10 THEN 3 END": "0",
		"SELECT sum(size - holes) = (SELECT sum(length(bytes)) FROM data) FROM node WHERE mode >> 12 IN (8, 10)":                        "1",
	} {
		if got := sqlite(t, path, sql); got != want {
			t.Errorf("%s\n%s\nwant\n%s", sql, got, want)
		}
	}
	for _, f := range files {
		if f.Mode.IsRegular() {
			sql := "SELECT hex(content) FROM file WHERE path = '" + f.Name + "'"
			if got := sqlite(t, path, sql); got != strings.ToUpper(hex.EncodeToString([]byte(f.Content))) {
				t.Errorf("%s: %d digits", f.Name, len(got))
			}
		}
	}
}

// TestFormatPage holds docs/reference/format.md to the schema.
func TestFormatPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/format.md")
	must.Do(t, err)
	for _, sql := range store.Schema {
		if strings.HasPrefix(sql, "CREATE TABLE") && !strings.Contains(string(page), sql+";\n") {
			t.Errorf("docs/reference/format.md does not have\n%s;", sql)
		}
	}
}

// TestWrittenBySQL reads a volume that SQLite has changed.
func TestWrittenBySQL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.folio")
	must.Do(t, folio.Create(context.Background(), path, nil, AddAll(Entry{"f", "old", 0o644}, Entry{"d/x", "", 0o644})))
	v := Open(t, path)
	if p, err := v.ReadFile("f"); err != nil || string(p) != "old" {
		t.Fatalf("%q, %v", p, err)
	}
	sqlite(t, path, `
		BEGIN IMMEDIATE;
		UPDATE data SET bytes = CAST('new content' AS BLOB) WHERE id = (SELECT ino << 28 FROM entry WHERE parent = 1 AND name = 'f');
		UPDATE node SET size = 11 WHERE ino = (SELECT ino FROM entry WHERE parent = 1 AND name = 'f');
		INSERT INTO node SELECT 100, mode, 1, 0, 0, 0, 0, 0, 0, 0, 0 FROM node WHERE size = 11;
		INSERT INTO entry VALUES ((SELECT ino FROM entry WHERE name = 'd'), 'added', 100, 1);
		DELETE FROM node WHERE ino = (SELECT ino FROM entry WHERE name = 'x');
		DELETE FROM entry WHERE name = 'x';
		COMMIT`)
	if p, err := v.ReadFile("f"); err != nil || string(p) != "new content" {
		t.Errorf("%q, %v", p, err)
	}
	if got, err := Names(v.ReadDir("d")); err != nil || got != "- added\n" {
		t.Errorf("%q, %v", got, err)
	}
	WantClean(t, v)
}

// TestOpenErrors opens files that are no volumes. Each must be refused in one line that names it.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	sqlite(t, foreign, "CREATE TABLE t (a); PRAGMA application_id = 252006673")
	text := filepath.Join(t.TempDir(), "text")
	must.Do(t, os.WriteFile(text, []byte("text"), 0o600))
	for path, want := range map[string]string{
		foreign:              "open " + foreign + ": a SQLite database, but not a Folio volume (application_id 0x0f055111, not 0x466f6c69)",
		text:                 "open " + text + ": ",
		t.TempDir():          "open ",
		foreign + ".missing": "open " + foreign + ".missing: ",
	} {
		v, err := folio.Open(path, nil)
		if err == nil {
			_ = v.Close()
		}
		pe, ok := err.(*fs.PathError)
		if !ok || pe.Path != path || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

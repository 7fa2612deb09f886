package sqlitefile

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var makeSeeds = flag.Bool("seeds", false, "make the databases in testdata/seed anew with the sqlite3 shell")

// A seed is a small sound database that tests damage.
type seed struct {
	name string
	sql  string // what makes it
}

// seeds are in testdata/seed, so that the tests run without the shell that made them.
var seeds = []seed{
	{"rowid", `
PRAGMA page_size = 512;
CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INT, body BLOB);
CREATE INDEX plain_name ON plain (name COLLATE NOCASE, size DESC);
CREATE UNIQUE INDEX plain_body ON plain (body, id);
` + counted(40, `INSERT INTO plain SELECT i, 'Name ' || (i * 7 % 20), i * i, zeroblob(CASE i % 8 WHEN 0 THEN i * 30 ELSE i % 30 END) || i FROM n`) + `
ALTER TABLE plain ADD COLUMN late TEXT DEFAULT 'before';
` + counted(6, `INSERT INTO plain SELECT i + 100, 'added', i / 2.0, NULL, 'after' FROM n`) + `
CREATE TABLE gone (a);
` + counted(12, `INSERT INTO gone SELECT zeroblob(900) FROM n`) + `
DROP TABLE gone;
DELETE FROM plain WHERE id % 7 = 0;`},

	{"keyed", `
PRAGMA page_size = 512; PRAGMA encoding = 'UTF-16le'; PRAGMA auto_vacuum = 2;
CREATE TABLE word (lang TEXT, word TEXT COLLATE RTRIM, n INT NOT NULL, note, PRIMARY KEY (lang, word DESC)) WITHOUT ROWID;
CREATE INDEX word_n ON word (n);
CREATE TABLE seq (id INTEGER PRIMARY KEY AUTOINCREMENT, real REAL UNIQUE);
` + counted(40, `INSERT INTO word SELECT 'l' || (i % 3), 'w' || i || substr('    ', 1, i % 4), i % 10, zeroblob(i * 29 % 500) FROM n`) + `
` + counted(40, `INSERT INTO seq (real) SELECT i / 4.0 FROM n`) + `
DELETE FROM word WHERE n = 3;
DELETE FROM seq WHERE id BETWEEN 5 AND 30;`},

	{"wide", `
PRAGMA page_size = 1024;
.filectrl reserve_bytes 24
VACUUM;
CREATE TABLE strict (a INT, b TEXT, c REAL, d ANY, e BLOB) STRICT;
` + counted(20, `INSERT INTO strict SELECT i, 'text ' || i, i * 1e3, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN 'x' END, x'00' FROM n`) + `
CREATE TABLE made (a INT, twice AS (a * 2), stored TEXT AS ('s' || a) STORED, UNIQUE (stored));
` + counted(20, `INSERT INTO made (a) SELECT i FROM n`) + `
CREATE INDEX made_some ON made (a) WHERE a > 10;
CREATE INDEX made_twice ON made (twice, lower(stored));
CREATE TABLE none (a PRIMARY KEY, b DEFAULT 1.5);
CREATE VIEW v AS SELECT * FROM made;`},
}

// counted returns a statement that begins with a table n of the numbers i from 1 to most.
func counted(most int, statement string) string {
	return "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < " + strconv.Itoa(most) + ") " + statement + ";"
}

func (s seed) path() string { return filepath.Join("testdata", "seed", s.name+".db") }

// image returns the content of the seed.
func (s seed) image(tb testing.TB) dbImage {
	tb.Helper()
	b, err := os.ReadFile(s.path())
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestSeeds holds the seeds to what they must be: sound for us and, where its shell is installed,
// for SQLite.
func TestSeeds(t *testing.T) {
	for _, s := range seeds {
		t.Run(s.name, func(t *testing.T) {
			if *makeSeeds {
				path := filepath.Join(t.TempDir(), "x.db")
				shell(t, path, s.sql)
				writeFile(t, s.path(), readFile(t, path))
			}
			s.image(t).check(t)
			if out := shell(t, s.image(t).write(t), "PRAGMA integrity_check"); out != "ok" {
				t.Errorf("SQLite's integrity_check: %s", out)
			}
		})
	}
}

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func writeFile(tb testing.TB, path string, b []byte) {
	tb.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// shellCommand is the sqlite3 shell with a database and input. Where there is none the test is
// skipped.
func shellCommand(tb testing.TB, path, sql string) *exec.Cmd {
	tb.Helper()
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		tb.Skip("comparison with SQLite: no sqlite3 shell is installed")
	}
	cmd := exec.Command(program, "-batch", path)
	cmd.Stdin = strings.NewReader(sql)
	return cmd
}

package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/lab/result"
)

// isolate gives the test a cache of its own for programs and stores.
func isolate(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(goCache))) // which depends on the next
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return dir
}

// measured calls the command, which must do well, and reads its results.
func measured(t *testing.T, out string, args ...string) (s *result.Set, stdout string) {
	t.Helper()
	code, stdout, stderr := lab(t, append(args, "--out", out)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	s, err := result.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return s, stdout
}

// shell is the sqlite3 program on a database.
type shell struct {
	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
}

func openShell(t *testing.T, db string) *shell {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("a user's database is made by sqlite3, which is not installed")
	}
	cmd := exec.Command("sqlite3", "-batch", "-bail", db)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &shell{in, bufio.NewScanner(out), cmd}
	t.Cleanup(s.close)
	return s
}

func (s *shell) close() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

// do executes statements, and returns when it has.
func (s *shell) do(t *testing.T, sql string) {
	t.Helper()
	if _, err := fmt.Fprintf(s.in, "%s;\nSELECT 'done';\n", sql); err != nil {
		t.Fatal(err)
	}
	for s.out.Scan() {
		if s.out.Text() == "done" {
			return
		}
	}
	t.Fatalf("sqlite3 has ended at %s", sql)
}

// userTable has values that drivers show in different ways.
const userTable = `CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT, share REAL, since DATETIME, active BOOLEAN, data BLOB);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO user SELECT i, CASE WHEN i % 7 THEN 'name ' || i END, i / 3.0, '2020-01-01 00:00:00', i % 2, CAST('blob' || i AS BLOB) FROM n;
CREATE TABLE none (a)`

// hashes returns the hashes of all files in a directory.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return out
}

// A wrong query is refused in a line, before anything is measured, and the database does not
// change.
func TestQueryRefused(t *testing.T) {
	dir := isolate(t)
	user := filepath.Join(dir, "user")
	if err := os.Mkdir(user, 0o777); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(user, "app.db")
	openShell(t, db).do(t, userTable)
	before := hashes(t, user)
	outside := filepath.Join(dir, "outside.db")
	for _, tt := range []struct{ query, from, want string }{
		{"INSERT INTO none VALUES (1)", "", "--query: it takes a statement that reads"},
		{"UPDATE user SET name = 'x'", "", "--query: it takes a statement that reads"},
		{"DELETE FROM user RETURNING id", "", "--query: it takes a statement that reads"},
		{"CREATE TABLE t (a)", "", "--query: it takes a statement that reads"},
		{"PRAGMA user_version = 7", "", "--query: it takes a statement that reads"},
		{"PRAGMA journal_mode = WAL", "", "--query: it takes a statement that reads"},
		{"VACUUM INTO '" + outside + "'", "", "--query: it takes a statement that reads"},
		{"ATTACH '" + outside + "' AS o", "", "--query: it takes a statement that reads"},
		{"WITH n AS (SELECT 1) INSERT INTO none SELECT * FROM n RETURNING a", "", "--query: it takes a statement that reads"},
		{"SELECT writefile('" + outside + "', 'x')", "", "no such function: writefile"},
		{"SELECT 1; DROP TABLE user", "", "--query: it takes one statement"},
		{" /* nothing */ ", "", "--query: it is empty"},
		{"SELECT 'x", "", "--query: unrecognized token"},
		{"SELECT FROM WHERE", "", "syntax error"},
		{"SELECT * FROM nowhere", "", "no such table: nowhere"},
		{"SELECT * FROM none", "", "--query returns nothing"},
		{"SELECT random()", "", "--query finds something else each time"},
		{"SELECT CURRENT_TIMESTAMP", "", "--query finds something else each time"},
		{"SELECT * FROM user WHERE id = ?", "", "--query has 1 parameters: --args-from must give"},
		{"SELECT * FROM user WHERE id = ?2", "SELECT 1, 2", "it has parameter 2, but not all before it"},
		{"SELECT * FROM user", "SELECT id FROM user", "--query has no parameter"},
		{"SELECT * FROM user WHERE id = ?", "SELECT * FROM none", "--args-from returns nothing"},
		{"SELECT * FROM user WHERE id = ?", "SELECT id, id FROM user", "--args-from returns 2 columns, --query has 1 parameters"},
		{"SELECT * FROM user WHERE id = ? AND name = ?", "SELECT id FROM user", "--args-from returns 1 columns, --query has 2 parameters"},
		{"SELECT * FROM user WHERE id = ?", "DELETE FROM user RETURNING id", "--args-from: it takes a statement that reads"},
		{"SELECT * FROM user WHERE id = ?", "SELECT id FROM user WHERE id > ?", "--args-from: it has parameters"},
		{"SELECT * FROM user WHERE id = ?", "SELECT id FROM nowhere", "--args-from: "},
		{"SELECT * FROM user WHERE id = ?", "SELECT share FROM user", "column share: arguments are integers and texts"},
		{"SELECT * FROM user WHERE data = ?", "SELECT data FROM user", "column data: arguments are integers and texts, not a BLOB"},
		{"SELECT * FROM user WHERE name = ?", "SELECT CAST(x'ff' AS TEXT)", "texts in UTF-8"},
		{"SELECT * FROM user WHERE name = ?", "SELECT NULL", "not NULL"},
	} {
		out := filepath.Join(dir, "run.jsonl")
		code, _, stderr := lab(t, "query", "--db", db, "--query", tt.query, "--args-from", tt.from, "--out", out)
		if code == exitOK || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s, %s: exit %d, %q, want a line with %q", tt.query, tt.from, code, stderr, tt.want)
		}
		for _, path := range []string{out, outside} {
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s: %s is there", tt.query, path)
			}
		}
	}
	if after := hashes(t, user); !maps.Equal(before, after) {
		t.Errorf("the database was %v, is %v", before, after)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "cache", "folio-lab", "folio-lab", "*")); err != nil || len(left) > 0 {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}

// A query with too many answers is refused with advice.
func TestQueryTooMuch(t *testing.T) {
	dir := isolate(t)
	db := filepath.Join(dir, "app.db")
	openShell(t, db).do(t, userTable)
	numbers := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n"
	code, _, stderr := lab(t, "query", "--db", db, "--query", "SELECT 1 + ?", "--args-from", numbers, "--args", "100000")
	if code == exitOK || !strings.HasSuffix(stderr, "; take fewer --args\n") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// A database on which another process holds an exclusive lock is refused; one in which a crash has
// left a transaction, too.
func TestQueryLocked(t *testing.T) {
	dir := isolate(t)
	db := filepath.Join(dir, "app.db")
	other := openShell(t, db)
	other.do(t, userTable)
	other.do(t, "BEGIN EXCLUSIVE")
	code, _, stderr := lab(t, "query", "--db", db, "--query", "SELECT * FROM user")
	if want := "lab: " + db + ": the database is locked by another process; try again when that has ended its transaction\n"; code == exitOK || stderr != want {
		t.Errorf("exit %d, %q, want %q", code, stderr, want)
	}
	other.do(t, "ROLLBACK")
	if err := os.WriteFile(db+"-journal", []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}, 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr = lab(t, "query", "--db", db, "--query", "SELECT * FROM user")
	if code == exitOK || !strings.Contains(stderr, "a crash left a transaction half done") {
		t.Errorf("exit %d, %q, want a word of the journal", code, stderr)
	}
}

// A statement is measured by drivers in C and in Go, raw and prepared, with every answer checked,
// on a database in WAL mode that another process has open and is writing to, whose last commits are
// in its log; and that is not touched.
func TestQuery(t *testing.T) {
	dir := isolate(t)
	user := filepath.Join(dir, "user")
	if err := os.Mkdir(user, 0o777); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(user, "app.db")
	other := openShell(t, db)
	other.do(t, "PRAGMA journal_mode = WAL; "+userTable)
	other.do(t, "PRAGMA wal_checkpoint; INSERT INTO user (name) VALUES ('in the log')")
	other.do(t, "BEGIN IMMEDIATE; INSERT INTO user (name) VALUES ('not committed')")
	before := hashes(t, user)
	if len(before) != 3 {
		t.Fatalf("beside the database there are %v, want a log and its index", before)
	}
	out := filepath.Join(dir, "run.jsonl")
	s, stdout := measured(
		t, out, "query", "--db", db, "--query", "SELECT * FROM user WHERE name = @name OR id = :id OR id = :id + 1", "--args-from", "SELECT 'in the log', id FROM user",
		"--contenders", "mattn,modernc,ncruces,foliosql", "--reads", "300", "--samples", "2", "--goroutines", "1,3",
	)
	if after := hashes(t, user); !maps.Equal(before, after) {
		t.Errorf("the database was %v, is %v", before, after)
	}
	const who = 7 // mattn, ncruces and foliosql with database/sql and without, modernc
	if len(s.Cases) != 4 || len(s.Failures) > 0 || len(s.Samples) != 4*who*2 {
		t.Errorf("%d cases, %d samples, failures %+v", len(s.Cases), len(s.Samples), s.Failures)
	}
	for i := range s.Samples {
		if m := &s.Samples[i]; m.Checked < 600 || m.Settings["journal_mode"] != "wal" && !strings.HasPrefix(m.Contender, "foliosql") {
			t.Errorf("%s in %s has found %d rows, with %v", m.Contender, m.Case, m.Checked, m.Settings)
		}
	}
	if !strings.Contains(stdout, "prepared x 3") || !strings.Contains(stdout, "modernc") || strings.Contains(stdout, "mattn:one") {
		t.Errorf("the table is\n%s", stdout)
	}
	if s.Cases[0].Param("query") == "" {
		t.Error("the statement is not in the results")
	}
}

// Values that drivers show in different ways are no wrong answers: invalid times and booleans,
// which mattn converts, and floats at the ends of their range.
func TestQueryStrange(t *testing.T) {
	dir := isolate(t)
	db := filepath.Join(dir, "app.db")
	openShell(t, db).do(t, `CREATE TABLE strange (at DATETIME, day DATE, ok BOOLEAN, f REAL);
INSERT INTO strange VALUES (1577836800, 'unknown', 2, 9e999), ('2020-01-01', 20200101, 'yes', -9e999), (NULL, '', 0.5, -0.0), (1.5, x'00', 1, 5e-324)`)
	out := filepath.Join(dir, "run.jsonl")
	code, _, stderr := lab(
		t, "query", "--db", db, "--query", "SELECT * FROM strange", "--contenders", "mattn,modernc,ncruces", "--reads", "20", "--samples", "1",
		"--goroutines", "1", "--out", out,
	)
	if code != exitOK || stderr != "" {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A database in a read-only directory is measured like any other.
func TestQueryReadOnlyDirectory(t *testing.T) {
	dir := isolate(t)
	user := filepath.Join(dir, "user")
	if err := os.Mkdir(user, 0o777); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(user, "app.db")
	other := openShell(t, db)
	other.do(t, "PRAGMA journal_mode = WAL; "+userTable)
	other.close()
	if err := os.Chmod(user, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(user, 0o777) })
	before := hashes(t, user)
	code, _, stderr := lab(
		t, "query", "--db", db, "--query", "SELECT count(*) FROM user", "--contenders", "ncruces", "--reads", "20", "--samples", "1",
		"--goroutines", "1", "--out", filepath.Join(dir, "run.jsonl"),
	)
	if code != exitOK || !maps.Equal(before, hashes(t, user)) {
		t.Errorf("exit %d: %s; the directory has %v, had %v", code, stderr, hashes(t, user), before)
	}
}

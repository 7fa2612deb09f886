package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The statements of the page on SQL work, one after the other, as they stand there.
func TestSQLPage(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3:", err)
	}
	path := filepath.Join(t.TempDir(), "site.folio")
	mustRun(t, "create", path)
	text := strings.Join(codeBlocks(t, "docs/howto/sql.md", "sql"), "\n")
	cmd := exec.Command(shell, "-bail", path)
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "/tmp/hosts", filepath.Join(t.TempDir(), "hosts")))
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "rror") {
		t.Errorf("%v: %s", err, out)
	}
	mustRun(t, "check", path)
}

// What the page says of the number of changed rows: changes() is 0, total_changes() grows if
// anything has changed, RETURNING has a row for each file, and the upsert of the page writes a file
// that is there and one that is not.
func TestSQLCounts(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3:", err)
	}
	path := filepath.Join(t.TempDir(), "site.folio")
	mustRun(t, "create", path)
	ask := func(sql string) string {
		t.Helper()
		out, err := exec.Command(shell, "-bail", path, sql).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", sql, err, out)
		}
		return strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", " ")
	}
	counts := "; SELECT changes(), total_changes() > 0"
	for _, test := range []struct{ sql, want string }{
		{"INSERT INTO file (path, content) VALUES ('a', 'one'), ('b', 'two')", "0|1"},
		{"UPDATE file SET content = 'new' WHERE path = 'a'", "0|1"},
		{"UPDATE file SET content = 'new' WHERE path = 'a'", "0|0"},
		{"UPDATE file SET content = 'new' WHERE path = 'c'", "0|0"},
		{"UPDATE file SET content = 'new' WHERE path < 'c' RETURNING path", "a b 0|1"},
		{"UPDATE file SET content = 'new' WHERE path = 'c' RETURNING path", "0|0"},
		{"DELETE FROM file WHERE path = 'b' RETURNING path", "b 0|1"},
		{"DELETE FROM file WHERE path = 'b'", "0|0"},
		{"UPDATE node SET mode = 33152 WHERE ino = (SELECT ino FROM file WHERE path = 'a')", "1|1"},
	} {
		if got := ask(test.sql + counts); got != test.want {
			t.Errorf("%s: %s, want %s", test.sql, got, test.want)
		}
	}
	upsert := ""
	for _, block := range codeBlocks(t, "docs/howto/sql.md", "sql") {
		if strings.Contains(block, "NOT EXISTS") {
			upsert = block
		}
	}
	for _, content := range []string{"milk", "milk, bread"} {
		ask(strings.ReplaceAll(upsert, "'milk'", "'"+content+"'"))
		if got := mustRun(t, "cat", path+":notes.txt"); got != content {
			t.Errorf("the upsert wrote %q, want %q", got, content)
		}
	}
	mustRun(t, "check", path)
}

// The shell extracts the tree of a volume, and of the archive that it is converted to.
func TestSQLArchive(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3:", err)
	}
	dir := t.TempDir()
	src, volume, sqlar := filepath.Join(dir, "src"), filepath.Join(dir, "v.folio"), filepath.Join(dir, "v.sqlar")
	makeTree(t, src)
	mustRun(t, "convert", src, volume)
	mustRun(t, "convert", volume, sqlar)
	out, err := exec.Command(shell, "-A", "-tf", volume).CombinedOutput() // whether this is an error depends on its version
	if !strings.Contains(string(out), "'sqlar' table") {
		t.Errorf("a volume is an archive: %v, %s", err, out)
	}
	recipe, file := "", filepath.Join(dir, "sqlar.sql")
	for _, block := range codeBlocks(t, "docs/howto/sql.md", "sql") {
		if strings.Contains(block, "TABLE sqlar") {
			recipe = block
		}
	}
	if err := os.WriteFile(file, []byte(recipe), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cmd := range map[string]*exec.Cmd{
		"convert": exec.Command(shell, "-A", "-xf", sqlar),
		"recipe":  exec.Command(shell, "-bail", volume),
		"-cmd":    exec.Command(shell, volume, "-cmd", ".read "+file, "-A", "-x"),
	} {
		cmd.Dir, cmd.Stdin = filepath.Join(dir, name), strings.NewReader(recipe+"\n.ar -x")
		if err := os.Mkdir(cmd.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v, %s", name, err, out)
		}
		if got, want := readTree(t, cmd.Dir), readTree(t, src); len(want) == 0 || !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// makeTree makes a tree of files of each kind that a SQLite archive holds.
func makeTree(t *testing.T, dir string) {
	t.Helper()
	when := time.Unix(1234567890, 0)
	for name, content := range map[string]string{"a": "hello", "d/packed": strings.Repeat("text", 100), "d/e/empty": ""} {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(content), 0o751), os.Chtimes(path, when, when))
		if err != nil {
			t.Fatal(err)
		}
	}
	// The shell gives the target of a link the time of the link.
	if err := os.Symlink("d", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
}

// readTree returns a line for each file below a directory: its mode, and its content and time if it
// has any.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := info.Mode().String()
		switch info.Mode().Type() {
		case 0:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprint(" ", info.ModTime().Unix(), " ", string(data))
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " " + target
		}
		name, err := filepath.Rel(dir, path)
		tree[name] = line
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

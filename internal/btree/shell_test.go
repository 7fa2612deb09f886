package btree

import (
	"os/exec"
	"strings"
	"testing"
)

// sqliteShell returns what the sqlite3 shell says to a statement about a database.
func sqliteShell(t testing.TB, path, sql string) string {
	t.Helper()
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("skipped: no sqlite3 shell to judge by")
	}
	cmd := exec.Command(program, "-batch", path)
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v\n%s", err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// wantShell compares what the sqlite3 shell says.
func wantShell(t testing.TB, path, sql, want string) {
	t.Helper()
	if got := sqliteShell(t, path, sql); got != want {
		t.Errorf("%s\ngot:\n%.2000s\nwant:\n%.2000s", sql, got, want)
	}
}

// ifShort returns few if the tests are to be short, as under the race detector, and otherwise many.
func ifShort(few, many int) int {
	if testing.Short() {
		return few
	}
	return many
}

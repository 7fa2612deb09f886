package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	text := strings.Join(codeBlocks(t, "docs/sql.md", "sql"), "\n")
	cmd := exec.Command(shell, "-bail", path)
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "/tmp/hosts", filepath.Join(t.TempDir(), "hosts")))
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "rror") {
		t.Errorf("%v: %s", err, out)
	}
	mustRun(t, "check", path)
}

package aferofs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const aferoPath = "github.com/spf13/afero"

// TestSuite runs all tests of afero with Folio in place of the operating system. Afero's module has them, but not for others to call, so it is copied
// from the module cache, and testdata/suite with it: an OsFs that is an Fs of this package, and a TestMain that makes the volume. Two things are
// left out: a test that makes its link with os.Symlink, and those of other modules.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds afero anew")
	}
	dir := t.TempDir()
	copied := filepath.Join(dir, "afero")
	copyTree(t, copied, strings.TrimSpace(goCommand(t, nil, "list", "-m", "-f", "{{.Dir}}", aferoPath)))
	copyTree(t, copied, filepath.Join("testdata", "suite"))
	out := goCommand(t, []string{"FOLIO_SUITE=" + dir}, "test", "-modfile="+writeModule(t, dir, copied), "-v", "-count=1",
		"-skip=^TestLstatIfPossible$", aferoPath)

	passed := len(regexp.MustCompile(`(?m)^--- PASS: `).FindAllString(out, -1))
	t.Logf("%d tests passed", passed)
	if passed < 80 { // of 85 in version 1.15
		t.Errorf("only %d tests passed", passed)
	}
	made := regexp.MustCompile(`files made in the volume: (\d+)`).FindStringSubmatch(out)
	if made == nil {
		t.Fatal("nothing says how many files the tests made")
	}
	if n, _ := strconv.Atoi(made[1]); n < 100 {
		t.Errorf("the tests made %d files in the volume: what did they run on?", n)
	}
}

// copyTree copies a directory, over what is there.
func copyTree(t *testing.T, to, from string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			copyTree(t, filepath.Join(to, e.Name()), filepath.Join(from, e.Name()))
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.MkdirAll(to, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// writeModule writes the go.mod of this module to dir, with afero replaced by the copy, and returns its path.
func writeModule(t *testing.T, dir, copied string) string {
	t.Helper()
	front, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(front, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(front, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(mod), "=> ..", "=> "+strconv.Quote(filepath.Dir(front)))
	text += fmt.Sprintf("\nreplace %s => %q\n", aferoPath, copied)
	path := filepath.Join(dir, "go.mod")
	for name, data := range map[string]string{path: text, filepath.Join(dir, "go.sum"): string(sum)} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// goCommand runs the go command and returns what it prints.
func goCommand(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

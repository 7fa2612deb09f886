// Package upstream runs the tests of other projects on our file systems. Other modules cannot call
// these tests. So they are copied from the module cache, changed where they make a file system, and
// run from the copy. It is for tests only.
package upstream

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A Suite is a package of another module, with its tests.
type Suite struct {
	Module string // path of the module, which the go.mod of this one requires
	Dir    string // of the package in the module; "." for its root
	Add    string // directory of files to be added, in place of those with their names
	Edit   []Edit
	Skip   string // regular expression, as for go test
	Env    []string
}

// An Edit replaces text that occurs once in a file of Dir.
type Edit struct{ File, Old, New string }

// Run runs the suite and returns how many of its tests passed, and their output. The environment
// variable FOLIO_SUITE names a directory for them.
func (s *Suite) Run(t *testing.T) (passed int, out string) {
	t.Helper()
	dir := t.TempDir()
	from := strings.TrimSpace(goCommand(t, nil, "list", "-m", "-f", "{{.Dir}}", s.Module))
	copied := filepath.Join(dir, "copy")
	copyTree(t, copied, from) // as other modules may import more of it
	copyTree(t, filepath.Join(copied, s.Dir), s.Add)
	for _, e := range s.Edit {
		e.apply(t, filepath.Join(copied, s.Dir))
	}
	args := []string{"test", "-mod=mod", "-modfile=" + s.writeModule(t, dir, copied), "-v", "-count=1"}
	if s.Skip != "" {
		args = append(args, "-skip="+s.Skip)
	}
	out = goCommand(t, append(s.Env, "FOLIO_SUITE="+dir), append(args, s.Module+strings.TrimPrefix("/"+s.Dir, "/."))...)
	return len(regexp.MustCompile(`(?m)^--- PASS: `).FindAllString(out, -1)), out
}

func (e Edit) apply(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, e.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), e.Old); n != 1 {
		t.Fatalf("%s has %q %d times, want it once", e.File, e.Old, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), e.Old, e.New, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// copyTree copies a directory, over existing files.
func copyTree(t *testing.T, to, from string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			copyTree(t, filepath.Join(to, e.Name()), filepath.Join(from, e.Name()))
		} else {
			copyFile(t, filepath.Join(to, e.Name()), filepath.Join(from, e.Name()))
		}
	}
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writeModule writes the go.mod of this module to dir, with the suite's module replaced by the
// copy, and returns its path.
func (s *Suite) writeModule(t *testing.T, dir, copied string) string {
	t.Helper()
	mod := filepath.Join(dir, "go.mod")
	own := strings.TrimSpace(goCommand(t, nil, "env", "GOMOD"))
	copyFile(t, mod, own)
	copyFile(t, filepath.Join(dir, "go.sum"), filepath.Join(filepath.Dir(own), "go.sum"))
	text, err := os.ReadFile(mod)
	if err == nil {
		err = os.WriteFile(mod, fmt.Appendf(text, "\nreplace %s => %q\n", s.Module, copied), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// goCommand runs the go command and returns its output.
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

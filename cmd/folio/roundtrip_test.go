package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runFolio runs the command and returns its exit code and what it wrote.
func runFolio(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := runFolio(t, args...)
	if code != exitOK || stderr != "" {
		t.Fatalf("folio %q: exit code %d, %s", args, code, stderr)
	}
	return stdout
}

// goroot returns where the Go distribution is.
func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command:", err)
	}
	return strings.TrimSpace(string(out))
}

// The Go distribution survives a round trip: contents, modes, owners, times, links.
func TestRoundTripGOROOT(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("copies GOROOT")
	}
	goroot, dir := goroot(t), t.TempDir()
	volume, copied := filepath.Join(dir, "v.folio"), filepath.Join(dir, "copy")
	mustRun(t, "import", goroot, volume)
	mustRun(t, "export", volume, copied)
	if err := compareTrees(goroot, copied); err != nil {
		t.Error(err)
	}
	compareContents(t, goroot, copied)
	if got := mustRun(t, "check", volume); !strings.Contains(got, ": ok: ") {
		t.Error(got)
	}
}

// compareContents compares the regular files of two trees that have the same names.
func compareContents(t *testing.T, a, b string) {
	t.Helper()
	inB := os.DirFS(b)
	err := fs.WalkDir(os.DirFS(a), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			return err
		}
		y, err := fs.ReadFile(inB, name)
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/foliofs/folio/lab/result"
)

// Without a C compiler the drivers in C are skipped with the reason, and the others measured; whether cgo is switched off, or the compiler is
// missing.
func TestNoCompiler(t *testing.T) {
	for _, env := range []string{"CGO_ENABLED=0", "CC=/nonexistent/cc"} {
		dir := isolate(t)
		name, value, _ := strings.Cut(env, "=")
		t.Setenv("CGO_ENABLED", "1")
		t.Setenv(name, value)
		out := filepath.Join(dir, "run.jsonl")
		code, _, stderr := lab(
			t, "run", "walk", "lookup", "--rounds", "1", "--contenders", "mattn,crawshaw,folio,engine", "--dirs", filepath.Join(dir, "stores"), "--walk.tree", "three",
			"--walk.visits", "60", "--lookup.rows", "1000", "--lookup.reads", "20", "--lookup.goroutines", "1", "--out", out,
		)
		if code != exitOK {
			t.Fatalf("%s: exit %d: %s", env, code, stderr)
		}
		s, err := result.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		skipped := make(map[string]string)
		for _, k := range s.Skips {
			if k.Workload == "" {
				skipped[k.Contender] = k.Reason
			}
		}
		for _, who := range []string{"mattn:sql", "mattn:native", "crawshaw"} {
			if skipped[who] != "no C compiler" {
				t.Errorf("%s: %s is skipped for the reason %q", env, who, skipped[who])
			}
		}
		if len(skipped) != 3 || len(s.Failures) > 0 || len(s.Samples) == 0 {
			t.Errorf("%s: %d samples, failures %+v, skipped %v", env, len(s.Samples), s.Failures, skipped)
		}
	}
}

// A disk that has no room for the database is named before anything is built.
func TestNoRoom(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("a small disk is mounted by root on Linux")
	}
	dir := isolate(t)
	small := filepath.Join(dir, "small")
	if err := os.Mkdir(small, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", small).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", small).Run() })
	out := filepath.Join(dir, "run.jsonl")
	code, _, stderr := lab(t, "run", "lookup", "--dirs", small, "--out", out)
	if code == exitOK || !strings.HasPrefix(stderr, "lab: "+small+": a database of 6000000 rows needs ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there are results")
	}
	if _, err := os.Stat(filepath.Join(dir, "cache", "folio-lab")); err == nil {
		t.Error("contenders were built")
	}
}

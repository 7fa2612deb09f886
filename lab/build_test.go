package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Without a C compiler the drivers in C are skipped with the reason, and the other contenders are
// measured. The test switches cgo off, and then hides the compiler.
func TestNoCompiler(t *testing.T) {
	for _, env := range []string{"CGO_ENABLED=0", "CC=/nonexistent/cc"} {
		dir := isolate(t)
		name, value, _ := strings.Cut(env, "=")
		t.Setenv("CGO_ENABLED", "1")
		t.Setenv(name, value)
		s, _ := measured(
			t, filepath.Join(dir, "run.jsonl"), "run", "walk", "lookup", "--samples", "1", "--contenders", "mattn,crawshaw,folio,engine", "--dirs", filepath.Join(dir, "stores"), "--walk.tree", "three",
			"--walk.visits", "60", "--lookup.rows", "1000", "--lookup.reads", "20", "--lookup.goroutines", "1",
		)
		skipped := make(map[string]string)
		for _, k := range s.Skips {
			if k.Workload == "" {
				skipped[k.Contender] = k.Reason
			}
		}
		for _, who := range []string{"mattn", "crawshaw"} {
			if skipped[who] != "no C compiler" {
				t.Errorf("%s: %s is skipped for the reason %q", env, who, skipped[who])
			}
		}
		if len(skipped) != 2 || len(s.Failures) > 0 || len(s.Samples) == 0 {
			t.Errorf("%s: %d samples, failures %+v, skipped %v", env, len(s.Samples), s.Failures, skipped)
		}
	}
}

// A program that a killed build has left in part is built again.
func TestTornProgram(t *testing.T) {
	dir := isolate(t)
	args := []string{
		"run", "write", "--contenders", "engine", "--samples", "1", "--write.shape", "sequential", "--write.durability", "none", "--write.inserts", "20",
		"--dirs", filepath.Join(dir, "stores"),
	}
	for i, size := range []int64{-1, 1 << 20, 0} {
		if programs, _ := filepath.Glob(filepath.Join(dir, "cache", "folio-lab", "bin-*", "engine*")); i > 0 && len(programs) != 1 {
			t.Fatalf("programs %v", programs)
		} else if i > 0 {
			if err := os.Truncate(programs[0], size); err != nil {
				t.Fatal(err)
			}
		}
		if code, _, stderr := lab(t, append(args, "--out", filepath.Join(dir, strconv.Itoa(i)+".jsonl"))...); code != exitOK || stderr != "" {
			t.Errorf("a program of %d bytes: exit %d: %s", size, code, stderr)
		}
	}
}

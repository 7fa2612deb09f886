package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// smallDisk mounts one.
func smallDisk(t *testing.T, path, size string) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("a small disk is mounted by root on Linux")
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", path).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", path).Run() })
}

// A disk that has no room for the database, or for the results, is named before anything is built.
func TestNoRoom(t *testing.T) {
	dir := isolate(t)
	small := filepath.Join(dir, "small")
	smallDisk(t, small, "20m")
	for _, tt := range []struct{ dirs, out, want string }{
		{small, filepath.Join(dir, "run.jsonl"), small + ": a database of 6000000 rows needs "},
		{filepath.Join(dir, "stores"), filepath.Join(small, "run.jsonl"), small + ": the results need about "},
	} {
		code, _, stderr := lab(t, "run", "lookup", "--samples", "1000", "--contenders", "engine", "--dirs", tt.dirs, "--out", tt.out)
		if code == exitOK || !strings.HasPrefix(stderr, "lab: "+tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit %d: %s, want %s", code, stderr, tt.want)
		}
		if _, err := os.Stat(tt.out); err == nil {
			t.Error("there are results")
		}
		if _, err := os.Stat(filepath.Join(dir, "cache", "folio-lab")); err == nil {
			t.Error("contenders were built")
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

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The command that a user types in a directory of their own takes relative names from there, and
// leaves its results there. It says line by line how far it is, as standard error is a pipe.
func TestWhereTheUserStands(t *testing.T) {
	dir := isolate(t)
	lab, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(dir, "user")
	if err := os.MkdirAll(filepath.Join(user, "stores"), 0o777); err != nil {
		t.Fatal(err)
	}
	text := []string{
		"-C", lab, "run", ".", "run", "write", "--contenders", "engine,files", "--samples", "1", "--dirs", "stores", "--out", "mine.jsonl",
		"--write.shape", "sequential", "--write.durability", "none", "--write.inserts", "20",
	}
	cmd := exec.Command("go", text...)
	cmd.Dir = user // which sets PWD as a shell does
	var out, progress bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &progress
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &progress)
	}
	if _, err := os.Stat(filepath.Join(user, "mine.jsonl")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "in mine.jsonl") {
		t.Errorf("stdout does not name the file as the user did: %s", &out)
	}
	lines := strings.Split(strings.TrimSpace(progress.String()), "\n")
	for _, want := range []string{"lab: building, 0 of 2 done: engine", "lab: building, 1 of 2 done: files"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in %q", want, lines)
		}
	}
	if !slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, "lab: measuring, 0 of ") }) {
		t.Errorf("nothing said of measuring: %q", lines)
	}
}

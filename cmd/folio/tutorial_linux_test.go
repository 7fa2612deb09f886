package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const tutorial = "docs/tutorial/ten-minutes.md"

// TestTutorial runs the commands of the tutorial and its program, one block after the other, and
// compares what they print with the block of text that follows.
func TestTutorial(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sqlite3", "curl", "tar", "fusermount3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("the tutorial uses it:", err)
		}
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("the tutorial mounts a volume:", err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "folio"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address := freeAddress(t)
	page, err := os.ReadFile(filepath.Join("..", "..", tutorial))
	if err != nil {
		t.Fatal(err)
	}
	var printed string
	for _, b := range blocks(strings.ReplaceAll(string(page), "127.0.0.1:8080", address)) {
		switch b.language {
		case "sh":
			script := strings.ReplaceAll(b.text, "folio serve ", "folio serve --listen "+address+" ")
			cmd := exec.Command("sh", "-e", "-c", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s%v: %s", b.text, err, out)
			}
			printed += string(out)
		case "go":
			printed += runProgram(t, b.text, dir)
		case "text":
			if got, want := withoutTimes(printed), withoutTimes(b.text); got != want {
				t.Errorf("the tutorial says\n%sand the commands print\n%s", want, got)
			}
			printed = ""
		default:
			t.Errorf("a block in %q", b.language)
		}
	}
	if printed != "" {
		t.Errorf("the tutorial does not show %q", printed)
	}
}

type block struct{ language, text string }

// blocks returns the code blocks of a page, in order.
func blocks(page string) (list []block) {
	for i, part := range strings.Split(page, "```") {
		if language, text, ok := strings.Cut(part, "\n"); ok && i%2 == 1 {
			list = append(list, block{language, text})
		}
	}
	return list
}

var took = regexp.MustCompile(` in \d+\.\d\d s`)

func withoutTimes(text string) string { return took.ReplaceAllString(text, " in some time") }

// freeAddress returns an address of this computer that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// runProgram builds a program within this module, and runs it in a directory.
func runProgram(t *testing.T, text, dir string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer os.Remove(program)
	cmd := exec.Command(program)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, out))
	}
	return string(out)
}

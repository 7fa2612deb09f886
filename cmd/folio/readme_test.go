package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readme returns the code blocks of a language in the front page.
func readme(t *testing.T, language string) []string {
	t.Helper()
	return codeBlocks(t, "README.md", language)
}

// codeBlocks returns those of a language in a page.
func codeBlocks(t *testing.T, page, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		t.Fatalf("no %s in %s", language, page)
	}
	return blocks
}

// silent are commands that say nothing when all goes well.
var silent = map[string]bool{"diff": true, "put": true, "mkdir": true, "mv": true, "cp": true, "rm": true, "snapshot": true}

// The commands of the front page work, one after the other, as they stand there.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("imports GOROOT")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell:", err)
	}
	dir := t.TempDir()
	built, err := exec.Command("go", "build", "-o", filepath.Join(dir, "folio"), ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, built)
	}
	for _, block := range readme(t, "sh") {
		for line := range strings.Lines(block) {
			line = strings.TrimPrefix(line, "go -C cmd/folio build -o ../../ && ")
			first, _, _ := strings.Cut(line, " ")
			if _, err := exec.LookPath("sqlite3"); first != "./folio" && (first != "sqlite3" || err != nil) {
				continue
			}
			cmd := exec.Command(sh, "-c", line)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || (len(out) == 0) != silent[strings.Fields(line)[1]] {
				t.Errorf("%s%v: %s", line, err, out)
			}
		}
	}
}

// The command of the front page that runs the tests has the short form, which Go's limit of ten
// minutes for a package does not end on a busy machine. CI runs the same tests as a whole.
func TestReadmeTests(t *testing.T) {
	t.Parallel()
	var commands []string
	for _, block := range readme(t, "sh") {
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "go test ") {
				commands = append(commands, strings.TrimSpace(line))
			}
		}
	}
	if want := []string{"go test -short ./..."}; !slices.Equal(commands, want) {
		t.Errorf("the front page has %q, want %q", commands, want)
	}
	ci, err := os.ReadFile(filepath.Join("..", "..", ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`tests() { cd "$1" && go test "$parallel" -count 1 -timeout 35m ./...; }`, "\nbeside tests .\n"} {
		if !strings.Contains(string(ci), part) {
			t.Errorf(".ci/run has no %q", part)
		}
	}
}

// The program of the front page compiles.
func TestReadmeProgram(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(name, []byte(readme(t, "go")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", name).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

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
			line = strings.TrimPrefix(line, "go build ./cmd/folio && ")
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
	if want := []string{"go test -short . ./internal/... ./sqlitefile/..."}; !slices.Equal(commands, want) {
		t.Errorf("the front page has %q, want %q", commands, want)
	}
	ci, err := os.ReadFile(filepath.Join("..", "..", ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`tests() { cd "$1" && go test "$parallel" -count 1 -timeout 35m "${@:2}"; }`, "\nlibrary() { tests . $(others); }\n", "\nbeside library\n",
	} {
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

// shipped are packages that programs of other modules import.
var shipped = []string{"", "/sqlitefile", "/adapter/aferofs", "/adapter/dav", "/mount", "/serve", "/sqlstore", "/pgstore"}

// The replacement of the front page lets a new module find all packages.
func TestReplacement(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("lets go look for modules")
	}
	clone, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var script string
	for _, block := range readme(t, "sh") {
		if strings.HasPrefix(block, "go mod edit -replace ") {
			script += strings.ReplaceAll(block, "=CLONE", "="+clone)
		}
	}
	program := "package main\n\nimport (\n"
	for _, path := range shipped {
		program += "\t_ \"github.com/foliofs/folio" + path + "\"\n"
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/program\n\ngo 1.26\n", "main.go": program + ")\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-ec", script+"go mod tidy\ngo list -deps . >/dev/null")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	switch out, err := cmd.CombinedOutput(); {
	case err != nil && strings.Contains(string(out), "dial tcp"):
		t.Skipf("no network: %s", out)
	case err != nil || script == "":
		t.Errorf("%v: %s", err, out)
	}
}

// The blocks of the front page that need a mount work, after the tour. They may be pasted as they
// stand.
func TestReadmeMounts(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if f, openErr := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil || openErr != nil || os.Geteuid() != 0 {
		t.Skip("no bash, or no mounts:", err, openErr)
	} else {
		f.Close()
	}
	dir, tree := t.TempDir(), t.TempDir()
	built, err := exec.Command("go", "build", "-o", filepath.Join(dir, "folio"), ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, built)
	}
	for name, text := range map[string]string{"src/io/io.go": "package io\n\nfunc ReadAll() {}\n", "src/io/errors.go": "package io\n\nvar ErrNoProgress error\n"} {
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "import", tree, filepath.Join(dir, "goroot.folio"))
	mustRun(t, "export", filepath.Join(dir, "goroot.folio")+":src/io", filepath.Join(dir, "io-copy"))
	cmd := exec.Command(bash, "-c", strings.Join(readme(t, "bash"), "\n"))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(filepath.Join(dir, "io-copy", "errors.go"))
	if err != nil || readErr != nil || !strings.Contains(string(out), "func ReadAll") || !strings.Contains(string(out), "\terrors.go\n") || !strings.Contains(string(text), "var ErrStuck error") {
		t.Errorf("%v, %v: %s\nerrors.go: %s", err, readErr, out, text)
	}
}

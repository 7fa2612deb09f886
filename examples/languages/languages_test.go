// Package languages_test runs programs in other languages that read and write files of a volume by
// SQL. They fetch their packages, so only the flag -languages runs them.
package languages_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

var languages = flag.Bool("languages", false, "run the programs in other languages, with packages from the network")

// A program is one in another language.
type program struct {
	tool  string     // that it needs
	fetch [][]string // commands that need the network
	run   []string   // without the volume
}

// programs returns the programs by their directories. TARGET is a place for what they build.
func programs(target string) map[string]program {
	at := func(parts ...string) string { return filepath.Join(append([]string{target}, parts...)...) }
	return map[string]program{
		"node": {tool: "node", run: []string{"node", "--no-warnings", "files.mjs"}},
		"rust": {
			tool: "cargo", fetch: [][]string{{"cargo", "fetch", "--quiet", "--locked"}},
			run: []string{"cargo", "run", "--quiet", "--locked", "--target-dir", at("rust"), "--"},
		},
		"java": {
			tool: "mvn", fetch: [][]string{{"mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=" + at("java")}},
			run: []string{"java", "-cp", at("java", "*"), "Files.java"},
		},
	}
}

func TestLanguages(t *testing.T) {
	if !*languages {
		t.Skip("fetches packages: -languages runs it")
	}
	for dir, p := range programs(t.TempDir()) {
		t.Run(dir, func(t *testing.T) {
			if _, err := exec.LookPath(p.tool); err != nil {
				t.Skip(err)
			}
			if dir == "node" && !hasSQLite() {
				t.Skip("node has no SQLite: Node 22.5 has")
			}
			for _, fetch := range p.fetch {
				if out, err := command(dir, fetch...).CombinedOutput(); err != nil {
					t.Skipf("no packages: %s: %v: %.200s", strings.Join(fetch[:2], " "), err, out)
				}
			}
			runProgram(t, dir, p)
		})
	}
}

func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	return cmd
}

// hasSQLite reports whether the program for Node finds a package to read a volume with.
func hasSQLite() bool {
	const look = `import("node:sqlite").catch(() => import("better-sqlite3")).catch(() => process.exit(1))`
	return command("node", "node", "--input-type=module", "--no-warnings", "-e", look).Run() == nil
}

// runProgram runs a program on a volume, and looks at what it printed and wrote.
func runProgram(t *testing.T, dir string, p program) {
	t.Helper()
	large := make([]byte, 300_000) // in several rows
	for i := range large {
		large[i] = byte(i / 1000)
	}
	path := filepath.Join(t.TempDir(), "v.folio")
	vol, err := folio.Open(path, &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	if err := vol.WriteFile("large", large, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(dir, append(p.run, path)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := []string{"notes/a.txt 0600 15", fmt.Sprintf("%x", sha256.Sum256(large)), "file: a directory of this path does not exist"}
	for i, line := range want {
		if len(lines) != len(want) || !strings.Contains(lines[i], line) {
			t.Errorf("%q, want %q", lines, want)
		}
	}
	if data, err := vol.ReadFile("notes/a.txt"); err != nil || string(data) != "hello from "+dir {
		t.Errorf("%q, %v", data, err)
	}
	report, err := vol.Check(t.Context(), nil)
	if err != nil || !report.OK() {
		t.Errorf("%v, %v", report, err)
	}
}

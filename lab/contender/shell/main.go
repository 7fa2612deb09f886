// Contender shell is the sqlite3 program, which takes part where whole processes are measured.
package main

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "shell", Module: "sqlite3",
		APIs: []workload.API{{
			Name: "shell", Title: "the sqlite3 shell", Kind: "sql", SQLite: about, Rowids: rowids,
			Notes: []string{"it gets a statement for each row, within one transaction"},
		}},
	})
}

// about asks the shell for its version and options.
func about() (version string, options []string, err error) {
	out, err := exec.Command("sqlite3", "-batch", ":memory:", "SELECT sqlite_version(); PRAGMA compile_options;").Output()
	if err != nil {
		return "", nil, fmt.Errorf("sqlite3: %w; install it, as Debian's package sqlite3", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[0], lines[1:], nil
}

func rowids(db string) *exec.Cmd { return exec.Command("sqlite3", "-batch", "-readonly", db) }

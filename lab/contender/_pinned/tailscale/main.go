// Contender tailscale drives github.com/tailscale/sqlite: SQLite in C. Some registries refuse its
// module. So go.mod does not require it, and no pattern of packages matches this directory. The
// runner requires it, and where that fails the contender is skipped.
package main

import (
	_ "github.com/tailscale/sqlite"

	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Pool{Driver: "sqlite3", Busy: busy}.Main("tailscale", "github.com/tailscale/sqlite", "tailscale/sqlite")
}

// busy is never true: each statement waits for as long as the timeout says.
func busy(error) bool { return false }

// Contender modernc drives modernc.org/sqlite: SQLite translated from C to Go.
package main

import (
	_ "modernc.org/sqlite"

	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Pool{Driver: "sqlite"}.Main("modernc", "modernc.org/sqlite", "modernc.org/sqlite")
}

// Contender modernc drives modernc.org/sqlite: SQLite translated from C to Go.
package main

import (
	"modernc.org/sqlite"

	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Pool{Driver: "sqlite", Busy: harness.Busy[*sqlite.Error]}.Main("modernc", "modernc.org/sqlite", "modernc.org/sqlite")
}

// Contender glebarez drives github.com/glebarez/go-sqlite: modernc.org's SQLite in Go, as a driver
// of its own.
package main

import (
	"github.com/glebarez/go-sqlite"

	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Pool{Driver: "sqlite", Busy: harness.Busy[*sqlite.Error]}.Main("glebarez", "github.com/glebarez/go-sqlite", "glebarez/go-sqlite")
}

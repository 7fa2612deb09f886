// Contender glebarez drives github.com/glebarez/go-sqlite: modernc.org's SQLite in Go, as a driver
// of its own.
package main

import (
	_ "github.com/glebarez/go-sqlite"

	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Pool{Driver: "sqlite"}.Main("glebarez", "github.com/glebarez/go-sqlite", "glebarez/go-sqlite")
}

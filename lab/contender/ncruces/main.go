// Contender ncruces drives github.com/ncruces/go-sqlite3: SQLite compiled to WebAssembly, and that
// to Go.
package main

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

var pool = harness.Pool{Driver: "sqlite3", Busy: busy}

func main() {
	const title = "ncruces/go-sqlite3"
	harness.Main(harness.Contender{
		Name: "ncruces", Module: "github.com/ncruces/go-sqlite3",
		APIs: []workload.API{
			pool.SQL("sql", title+", database/sql"),
			harness.Driver{Open: open, Busy: busy}.SQL("native", title+", its own connections"),
		},
	})
}

func busy(err error) bool { return errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED) }

// Contender ncruces drives github.com/ncruces/go-sqlite3: SQLite compiled to WebAssembly, and that to Go.
package main

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

var pool = kit.Pool{Driver: "sqlite3", DSN: dsn}

func main() {
	const title = "ncruces/go-sqlite3"
	kit.Main(kit.Contender{
		Name: "ncruces", Module: "github.com/ncruces/go-sqlite3",
		APIs: []workload.API{
			pool.AsDriver(busy).SQL("sql", title+", database/sql"),
			kit.Driver{Open: open, Busy: busy}.SQL("native", title+", its own connections"),
		},
	})
}

func dsn(path string, access kit.Access) string {
	if access == kit.Read {
		return kit.URI(path) + "?mode=ro"
	}
	return kit.URI(path)
}

func busy(err error) bool { return errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED) }

//go:build cgo

// Contender mattn drives github.com/mattn/go-sqlite3: SQLite in C.
package main

import (
	"errors"

	"github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

var pool = kit.Pool{Driver: "sqlite3", DSN: dsn}

func main() {
	const title = "mattn/go-sqlite3"
	kit.Main(kit.Contender{
		Name: "mattn", Module: "github.com/mattn/go-sqlite3",
		APIs: []workload.API{
			pool.AsDriver(busy).SQL("sql", title+", database/sql"),
			kit.Driver{Open: open, Busy: busy}.SQL("native", title+", its own connections"),
			kit.Driver{Open: open, Busy: busy}.Shared("one", title+", one connection for all"),
		},
	})
}

// dsn leaves out the mutex, as a connection belongs to one goroutine, and the wait for others, which the kit sets.
func dsn(path string, access kit.Access) string {
	if access == kit.Read {
		return kit.URI(path) + "?mode=ro&_mutex=no"
	}
	return kit.URI(path) + "?_mutex=no"
}

func busy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

//go:build cgo

// Contender mattn drives github.com/mattn/go-sqlite3: SQLite in C.
package main

import (
	"errors"

	"github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

var pool = harness.Pool{Driver: "sqlite3", DSN: dsn, Busy: busy}

func main() {
	const title = "mattn/go-sqlite3"
	harness.Main(harness.Contender{
		Name: "mattn", Module: "github.com/mattn/go-sqlite3",
		APIs: []workload.API{
			pool.SQL("sql", title+", database/sql"),
			harness.Driver{Open: open, Busy: busy}.SQL("native", title+", its own connections"),
			harness.Driver{Open: open, Busy: busy}.Shared("one", title+", one connection for all"),
		},
	})
}

// dsn leaves out the mutex, because a connection belongs to one goroutine, and the busy timeout,
// which the harness sets.
func dsn(path string, access harness.Access) string {
	if access == harness.Read {
		return harness.URI(path) + "?mode=ro&_mutex=no"
	}
	return harness.URI(path) + "?_mutex=no"
}

func busy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

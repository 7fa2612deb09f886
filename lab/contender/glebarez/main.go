// Contender glebarez drives github.com/glebarez/go-sqlite: modernc.org's SQLite in Go, as a driver of its own.
package main

import (
	"errors"

	"github.com/glebarez/go-sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

func main() {
	kit.Main(kit.Contender{
		Name: "glebarez", Module: "github.com/glebarez/go-sqlite",
		APIs: []workload.API{
			kit.Driver{Open: kit.Pool{Driver: "sqlite", DSN: dsn}.Open, Busy: busy}.SQL("sql", "glebarez/go-sqlite, database/sql"),
		},
	})
}

func dsn(path string, access kit.Access) string {
	if access == kit.Read {
		return kit.URI(path) + "?mode=ro"
	}
	return kit.URI(path)
}

// SQLITE_BUSY and SQLITE_LOCKED, in the low byte of each extended code.
const (
	sqliteBusy   = 5
	sqliteLocked = 6
)

func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqliteBusy || e.Code()&0xff == sqliteLocked)
}

// Contender modernc drives modernc.org/sqlite: SQLite translated from C to Go.
package main

import (
	"errors"

	"modernc.org/sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

var pool = kit.Pool{Driver: "sqlite", DSN: dsn}

func main() {
	kit.Main(kit.Contender{
		Name: "modernc", Module: "modernc.org/sqlite",
		APIs: []workload.API{
			pool.AsDriver(busy).SQL("sql", "modernc.org/sqlite, database/sql"),
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

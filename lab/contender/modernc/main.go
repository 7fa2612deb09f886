// Contender modernc drives modernc.org/sqlite: SQLite translated from C to Go.
package main

import (
	"errors"

	"modernc.org/sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

var pool = harness.Pool{Driver: "sqlite", Busy: busy}

func main() {
	harness.Main(harness.Contender{
		Name: "modernc", Module: "modernc.org/sqlite",
		APIs: []workload.API{pool.SQL("sql", "modernc.org/sqlite, database/sql")},
	})
}

func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && harness.BusyCode(e.Code())
}

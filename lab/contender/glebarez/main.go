// Contender glebarez drives github.com/glebarez/go-sqlite: modernc.org's SQLite in Go, as a driver
// of its own.
package main

import (
	"errors"

	"github.com/glebarez/go-sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "glebarez", Module: "github.com/glebarez/go-sqlite",
		APIs: []workload.API{
			harness.Driver{Open: harness.Pool{Driver: "sqlite"}.Open, Busy: busy}.SQL("sql", "glebarez/go-sqlite, database/sql"),
		},
	})
}

func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && harness.BusyCode(e.Code())
}

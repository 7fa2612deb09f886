// Contender zombiezen drives zombiezen.com/go/sqlite: modernc.org's SQLite in Go, without
// database/sql.
package main

import (
	"zombiezen.com/go/sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "zombiezen", Module: "zombiezen.com/go/sqlite",
		APIs: []workload.API{harness.Driver{Open: open, Busy: busy}.SQL("native", "zombiezen.com/go/sqlite")},
	})
}

// open leaves out the package's default flags, which would turn any file into WAL mode.
func open(path string, access harness.Access) (harness.Conn, error) {
	flags := sqlite.OpenReadOnly
	if access == harness.Write {
		flags = sqlite.OpenReadWrite | sqlite.OpenCreate
	}
	c, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	// Prepare keeps statements by their text, PrepareTransient does not.
	return &harness.StepConn[*sqlite.Stmt]{Transient: c.PrepareTransient, Cached: c.Prepare, CloseFunc: c.Close}, nil
}

func busy(err error) bool {
	code := sqlite.ErrCode(err).ToPrimary()
	return code == sqlite.ResultBusy || code == sqlite.ResultLocked
}

//go:build cgo

// Contender crawshaw drives crawshaw.io/sqlite: SQLite in C, without database/sql.
package main

import (
	"errors"

	"crawshaw.io/sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "crawshaw", Module: "crawshaw.io/sqlite",
		APIs: []workload.API{harness.Driver{Open: open, Busy: busy}.SQL("native", "crawshaw.io/sqlite")},
	})
}

// open leaves out the package's default flags, which would turn any file into WAL mode.
func open(path string, access harness.Access) (harness.Conn, error) {
	flags := sqlite.SQLITE_OPEN_READONLY | sqlite.SQLITE_OPEN_NOMUTEX
	if access == harness.Write {
		flags = sqlite.SQLITE_OPEN_READWRITE | sqlite.SQLITE_OPEN_CREATE | sqlite.SQLITE_OPEN_NOMUTEX
	}
	c, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	// Prepare keeps statements by their text, PrepareTransient does not.
	return &harness.StepConn[*sqlite.Stmt]{Transient: c.PrepareTransient, Cached: c.Prepare, CloseFunc: c.Close}, nil
}

// busy looks for the package's own error, because ErrCode does not look into wrapped errors.
func busy(err error) bool {
	var e sqlite.Error
	return errors.As(err, &e) && (e.Code&0xff == sqlite.SQLITE_BUSY || e.Code&0xff == sqlite.SQLITE_LOCKED)
}

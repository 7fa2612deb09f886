//go:build cgo

// Contender crawshaw drives crawshaw.io/sqlite: SQLite in C, without database/sql.
package main

import (
	"errors"

	"crawshaw.io/sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/kit"
)

func main() {
	kit.Main(kit.Contender{
		Name: "crawshaw", Module: "crawshaw.io/sqlite",
		APIs: []workload.API{kit.Driver{Open: open, Busy: busy}.SQL("native", "crawshaw.io/sqlite")},
	})
}

// open leaves out the package's default flags, which would turn any file into WAL mode.
func open(path string, access kit.Access) (kit.Conn, error) {
	flags := sqlite.SQLITE_OPEN_READONLY | sqlite.SQLITE_OPEN_NOMUTEX
	if access == kit.Write {
		flags = sqlite.SQLITE_OPEN_READWRITE | sqlite.SQLITE_OPEN_CREATE | sqlite.SQLITE_OPEN_NOMUTEX
	}
	c, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

// busy looks for the package's error itself, as ErrCode does not look into others.
func busy(err error) bool {
	var e sqlite.Error
	return errors.As(err, &e) && (e.Code&0xff == sqlite.SQLITE_BUSY || e.Code&0xff == sqlite.SQLITE_LOCKED)
}

type conn struct{ c *sqlite.Conn }

// Raw prepares a transient statement: Prep and Prepare keep theirs by their text.
func (c conn) Raw(query string, _ []kit.Kind, args []kit.Value, row func(kit.Row) error) error {
	s, _, err := c.c.PrepareTransient(query)
	if err != nil {
		return err
	}
	return kit.RunOnce(s, args, row)
}

func (c conn) Prepare(query string, _ []kit.Kind) (kit.Stmt, error) {
	s, err := c.c.Prepare(query)
	if err != nil {
		return nil, err
	}
	return kit.Steps(s), nil
}

func (c conn) Close() error { return c.c.Close() }

//go:build cgo

package judge

import (
	"errors"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Available tells whether C SQLite is in this build.
const Available = true

// fcntlReserveBytes is SQLITE_FCNTL_RESERVE_BYTES.
const fcntlReserveBytes = 38

// ReserveBytes asks for n unused bytes at the end of each page. It has an effect before the first
// table is made.
func (c *Conn) ReserveBytes(n int) error {
	return c.driver.(*sqlite3.SQLiteConn).SetFileControlInt("main", fcntlReserveBytes, n)
}

// Deserialize makes a copy of image the connection's database, in memory.
func (c *Conn) Deserialize(image []byte) error {
	return c.driver.(*sqlite3.SQLiteConn).Deserialize(image, "main")
}

// limitLength is SQLITE_LIMIT_LENGTH.
const limitLength = 0

// LimitLength refuses values and rows longer than n bytes.
func (c *Conn) LimitLength(n int) { c.driver.(*sqlite3.SQLiteConn).SetLimit(limitLength, n) }

// code is the primary result code of an error of C SQLite that is not wrapped, or 0.
func code(err error) int {
	if e, ok := err.(sqlite3.Error); ok {
		return int(e.Code)
	}
	return 0
}

func extended(err error) int {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return int(e.ExtendedCode)
	}
	return 0
}

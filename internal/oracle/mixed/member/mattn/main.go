//go:build cgo

// Member mattn takes part with C SQLite.
package main

import (
	"errors"

	sqlite3 "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/mixed/member"
)

func main() {
	member.Main(&member.SQL{Name: "sqlite3", Code: func(err error) int {
		if e, ok := errors.AsType[sqlite3.Error](err); ok {
			return int(e.Code)
		}
		return 0
	}})
}

// Member modernc takes part with SQLite in Go, translated from C.
package main

import (
	"errors"

	"modernc.org/sqlite"

	"github.com/foliofs/folio/internal/oracle/mixed/member"
)

func main() {
	member.Main(&member.SQL{Name: "sqlite", Code: func(err error) int {
		if e, ok := errors.AsType[*sqlite.Error](err); ok {
			return e.Code()
		}
		return 0
	}})
}

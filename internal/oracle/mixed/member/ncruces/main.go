// Member ncruces takes part with SQLite as WebAssembly, which uses the locks of open file
// descriptions, as ours are.
package main

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/foliofs/folio/internal/oracle/mixed/member"
)

func main() { member.Main(&member.SQL{Name: "sqlite3", Code: code}) }

// code returns the result code of an error, which comes with or without a text.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite3.Error](err); ok {
		return int(e.Code())
	}
	if e, ok := errors.AsType[sqlite3.ExtendedErrorCode](err); ok {
		return int(e)
	}
	if e, ok := errors.AsType[sqlite3.ErrorCode](err); ok {
		return int(e)
	}
	return 0
}

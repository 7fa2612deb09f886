package fuzzdata

import (
	"github.com/foliofs/folio/sqlitefile"
)

// check is what the engine's Check has against a database.
func check(db *sqlitefile.DB) error {
	return nil
}

package fuzzdata

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/sqlitefile"
)

// check returns the complaints of the engine's Check about a database.
func check(db *sqlitefile.DB) error {
	report, err := db.Check(context.Background(), nil)
	if err != nil || report.OK() {
		return err
	}
	return fmt.Errorf("%d problems: %v", len(report.Problems), report.Problems[0])
}

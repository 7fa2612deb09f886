package fuzzdata

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/sqlitefile"
)

// check is what the engine's Check has against a database.
func check(db *sqlitefile.DB) error {
	report, err := db.Check(context.Background())
	if err != nil || report.OK() {
		return err
	}
	return fmt.Errorf("%d problems: %v", len(report.Problems), report.Problems[0])
}

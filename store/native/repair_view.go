package native

import (
	"context"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// addFileTriggers makes view file writable in a volume that was made before it was, unless other
// programs have given the names to something else, or have changed the view.
func (s *Store) addFileTriggers(ctx context.Context, report *store.RepairReport) error {
	lacking := false
	err := s.db.View(ctx, func(rx *sqlitefile.Rx) (err error) {
		lacking, err = lacksFileTriggers(rx)
		return err
	})
	if err != nil || !lacking {
		return explain(err)
	}
	err = s.db.Update(ctx, func(tx *sqlitefile.Tx) error {
		lacking, err := lacksFileTriggers(&tx.Rx)
		if err != nil || !lacking {
			return err
		}
		return tx.Exec("DROP VIEW file;" + strings.Join(store.FileStatements, ";"))
	})
	if err == nil {
		p := store.Problem{What: "SQL cannot write view file"}
		report.Repairs = append(report.Repairs, store.Repair{Problem: p, Done: "its triggers made"})
	}
	return explain(err)
}

// lacksFileTriggers reports whether of store.FileStatements there is the view alone, as it is or as
// it was.
func lacksFileTriggers(rx *sqlitefile.Rx) (bool, error) {
	objects, err := rx.Objects()
	if err != nil {
		return false, err
	}
	found := make(map[string]string)
	for _, o := range objects {
		found[ddl.Fold(o.Name)] = o.SQL
	}
	view, triggers := store.FileStatements[0], store.FileStatements[1:]
	if found["file"] != view && found["file"] != store.OldFileView {
		return false, nil
	}
	for _, own := range ownObjects() {
		if _, taken := found[ddl.Fold(own.name)]; taken && slices.Contains(triggers, own.sql) {
			return false, nil
		}
	}
	return true, nil
}

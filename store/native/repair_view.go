package native

import (
	"context"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// makeTriggers makes view file writable if its triggers are missing, unless other programs have
// given the names to something else, or have changed the view.
func (s *Store) makeTriggers(ctx context.Context, report *store.RepairReport) error {
	readOnly := false
	err := s.db.View(ctx, func(rx *sqlitefile.Rx) (err error) {
		readOnly, err = isReadOnly(rx)
		return err
	})
	if err != nil || !readOnly {
		return explain(err)
	}
	err = s.update(ctx, func(t *tx) (err error) {
		if readOnly, err = isReadOnly(&t.db.Rx); err == nil && readOnly {
			err = t.db.Exec(strings.Join(store.FileStatementsOf(t.hasClones())[1:], ";"))
			t.opened = [len(tableNames)]bool{}
		}
		return err
	})
	if err != nil || !readOnly {
		return explain(err)
	}
	report.Repairs = append(report.Repairs, store.Repair{Problem: store.Problem{What: "SQL cannot write view file"}, Done: "its triggers made"})
	return nil
}

// isReadOnly reports whether of store.FileStatements there is view file alone.
func isReadOnly(rx *sqlitefile.Rx) (readOnly bool, err error) {
	objects, err := rx.Objects()
	if err != nil {
		return false, err
	}
	names := make(map[string]bool)
	for _, o := range objects {
		names[ddl.Fold(o.Name)] = true
		own := slices.Contains(store.FileStatementsOf(false), o.SQL) || slices.Contains(store.FileStatementsOf(true), o.SQL)
		readOnly = readOnly || own && ddl.EqualFold(o.Name, "file")
	}
	for _, sql := range store.FileStatements[1:] {
		readOnly = readOnly && !names[ddl.Fold(strings.Fields(sql)[2])]
	}
	return readOnly, nil
}

package native

import (
	"context"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

// renewViews gives a volume of an older Folio the views and the triggers of this one. It makes view
// file writable if it was not, unless other programs have given the names to something else, or
// have changed the view.
func (s *Store) renewViews(ctx context.Context, report *store.RepairReport) error {
	outdated, readOnly := false, false
	err := s.db.View(ctx, func(rx *sqlitefile.Rx) (err error) {
		outdated, readOnly, err = judgeViews(rx)
		return err
	})
	if err != nil || !outdated && !readOnly {
		return explain(err)
	}
	err = s.update(ctx, func(t *tx) (err error) {
		if outdated, readOnly, err = judgeViews(&t.db.Rx); err == nil && outdated {
			err = t.describe()
		}
		if err == nil && readOnly {
			err = t.db.Exec(strings.Join(store.FileStatementsOf(t.hasClones())[1:], ";"))
			t.opened = [len(tableNames)]bool{}
		}
		return err
	})
	if err != nil {
		return explain(err)
	}
	done := func(what, done string) {
		report.Repairs = append(report.Repairs, store.Repair{Problem: store.Problem{What: what}, Done: done})
	}
	switch {
	case readOnly:
		done("SQL cannot write view file", "its triggers made")
	case outdated:
		done("views and triggers are those of an older Folio", "they are made again")
	}
	return nil
}

// judgeViews reports whether views and triggers are outdated, those of an older Folio, and whether
// view file is readOnly: of store.FileStatements there is the view alone.
func judgeViews(rx *sqlitefile.Rx) (outdated, readOnly bool, err error) {
	objects, err := rx.Objects()
	if err != nil {
		return false, false, err
	}
	_, outdated = fileTexts(objects, false)
	names := make(map[string]bool)
	for _, o := range objects {
		outdated = outdated || isOldHistoryView(o.SQL)
		names[ddl.Fold(o.Name)] = true
		own := store.IsOldStatement(o.SQL) || slices.Contains(store.FileStatementsOf(false), o.SQL) || slices.Contains(store.FileStatementsOf(true), o.SQL)
		readOnly = readOnly || own && ddl.EqualFold(o.Name, "file")
	}
	for _, sql := range store.FileStatements[1:] {
		readOnly = readOnly && !names[ddl.Fold(strings.Fields(sql)[2])]
	}
	return outdated, readOnly, nil
}

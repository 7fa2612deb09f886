package repair

import (
	"context"
	"strings"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// makeViews makes the views and triggers of the format that are missing, unless other programs have
// given a name of these to something else.
func makeViews(ctx context.Context, db *sqlitefile.DB, update func(ctx context.Context, fn func(t *history.Tx) error) error, report *store.RepairReport) error {
	var missing []string
	err := db.View(ctx, func(rx *sqlitefile.Rx) (err error) {
		missing, err = missingViews(rx)
		return err
	})
	if err != nil || len(missing) == 0 {
		return rowstore.Explain(err)
	}
	err = update(ctx, func(t *history.Tx) (err error) {
		if missing, err = missingViews(&t.DB.Rx); err == nil && len(missing) > 0 {
			err = t.DB.Exec(strings.Join(missing, ";"))
			t.Opened = [len(rowstore.TableNames)]bool{}
		}
		return err
	})
	if err != nil {
		return rowstore.Explain(err)
	}
	for _, sql := range missing {
		words := strings.Fields(sql)
		what := strings.ToLower(words[1]) + " " + words[2]
		report.Repairs = append(report.Repairs, store.Repair{Problem: store.Problem{What: what + " is missing"}, Done: "made again"})
	}
	return nil
}

// missingViews returns the statements of the views and triggers that makeViews makes.
func missingViews(db *sqlitefile.Rx) ([]string, error) {
	_, missing, err := compareViews(db)
	return missing, err
}

// compareViews is check.Views of the database.
func compareViews(db *sqlitefile.Rx) (found, missing []string, err error) {
	snapshots, err := rowstore.HasHistory(db)
	if err != nil {
		return nil, nil, err
	}
	objects, err := objectsOf(db)
	if err != nil {
		return nil, nil, err
	}
	found, missing = check.Views(objects, snapshots, rowstore.Rx{Engine: db}.HasClones())
	return found, missing, nil
}

package native

import (
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// describe gives the volume the triggers and the views that belong to its snapshots and its clones
// (C6). It leaves the views of other programs, also those in the place of ours.
func (t *tx) describe() error {
	snapshots, err := hasHistory(&t.db.Rx)
	if err != nil {
		return err
	}
	clones := t.hasClones()
	if err := t.describeFiles(clones); err != nil {
		return err
	}
	objects, err := t.db.Objects()
	if err != nil {
		return err
	}
	triggers, views := store.Triggers(snapshots, clones), []string(nil)
	if snapshots {
		views = store.HistoryViews(clones)
	}
	for _, o := range objects {
		drop := ""
		switch {
		case o.Type == "trigger" && store.IsOwnTrigger(o.SQL) && !slices.Contains(triggers, o.SQL):
			drop = "DROP TRIGGER " + o.Name
		case o.Type == "view" && isHistoryView(o.SQL) && !slices.Contains(views, o.SQL):
			drop = "DROP VIEW " + o.Name
		default:
			continue
		}
		if err := t.db.Exec(drop); err != nil {
			return err
		}
	}
	for _, sql := range triggers {
		if slices.ContainsFunc(objects, func(o sqlitefile.Object) bool { return o.SQL == sql }) {
			continue
		}
		if err := t.db.Exec(sql); err != nil {
			return err
		}
	}
	if snapshots {
		_, err = t.addHistoryViews()
	}
	t.opened = [len(tableNames)]bool{} // the tables are those of the schema as it was
	return err
}

// isHistoryView reports whether a statement makes a view of a volume with snapshots.
func isHistoryView(sql string) bool {
	return slices.Contains(store.HistoryViews(false), sql) || slices.Contains(store.HistoryViews(true), sql)
}

// describeFiles puts the texts of view file and of its triggers in the place of those of a volume
// with clones, or without.
func (t *tx) describeFiles(clones bool) error {
	objects, err := t.db.Objects()
	if err != nil {
		return err
	}
	are, were := store.FileStatementsOf(clones), store.FileStatementsOf(!clones)
	for i, o := range objects {
		at := slices.Index(were, o.SQL)
		if at < 0 || are[at] == o.SQL {
			continue
		}
		o.SQL = are[at]
		if err := t.db.ReplaceObject(i, o); err != nil {
			return err
		}
	}
	return nil
}

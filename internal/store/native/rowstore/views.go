package rowstore

import (
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// SyncViews gives the volume the triggers and the views that belong to its snapshots and its clones
// (C6). It leaves the views of other programs, also those in the place of ours.
func (t *Tx) SyncViews() error {
	snapshots, err := HasHistory(&t.DB.Rx)
	if err != nil {
		return err
	}
	clones := t.HasClones()
	if err := t.syncFileViews(clones); err != nil {
		return err
	}
	objects, err := t.DB.Objects()
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
		case o.Type == "view" && IsHistoryView(o.SQL) && !slices.Contains(views, o.SQL):
			drop = "DROP VIEW " + o.Name
		default:
			continue
		}
		if err := t.DB.Exec(drop); err != nil {
			return err
		}
	}
	for _, sql := range triggers {
		if slices.ContainsFunc(objects, func(o sqlitefile.Object) bool { return o.SQL == sql }) {
			continue
		}
		if err := t.DB.Exec(sql); err != nil {
			return err
		}
	}
	if snapshots {
		_, err = t.AddHistoryViews()
	}
	t.Opened = [len(TableNames)]bool{} // the tables are those of the schema as it was
	return err
}

// IsHistoryView reports whether a statement makes a view of a volume with snapshots.
func IsHistoryView(sql string) bool {
	return slices.Contains(store.HistoryViews(false), sql) || slices.Contains(store.HistoryViews(true), sql)
}

// syncFileViews puts the texts of view file and of its triggers in the place of the texts of a
// volume with clones, or without.
func (t *Tx) syncFileViews(clones bool) error {
	objects, err := t.DB.Objects()
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
		if err := t.DB.ReplaceObject(i, o); err != nil {
			return err
		}
	}
	return nil
}

// AddHistoryViews makes the views of a volume with snapshots that are missing, and returns their
// names. It leaves an object of another program that has such a name.
func (t *Tx) AddHistoryViews() (made []string, err error) {
	objects, err := t.DB.Objects()
	if err != nil {
		return nil, err
	}
	for _, sql := range store.HistoryViews(t.HasClones()) {
		name, _, _ := strings.Cut(strings.TrimPrefix(sql, "CREATE VIEW "), " ")
		if slices.ContainsFunc(objects, func(o sqlitefile.Object) bool { return strings.EqualFold(o.Name, name) }) {
			continue
		}
		if err := t.DB.Exec(sql); err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	return made, nil
}

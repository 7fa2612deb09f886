package native

import (
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
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
	return slices.Contains(store.HistoryViews(false), sql) || slices.Contains(store.HistoryViews(true), sql) || isOldHistoryView(sql)
}

func isOldHistoryView(sql string) bool {
	return strings.HasPrefix(sql, "CREATE VIEW file_at ") && store.IsOldStatement(sql)
}

// describeFiles puts the texts of view file and of its triggers in the place of those of a volume
// with clones, or without, and of those of an older Folio.
func (t *tx) describeFiles(clones bool) error {
	objects, err := t.db.Objects()
	if err != nil {
		return err
	}
	texts, _ := fileTexts(objects, clones)
	for i, sql := range texts {
		o := objects[i]
		o.SQL = sql
		if err := t.db.ReplaceObject(i, o); err != nil {
			return err
		}
	}
	return nil
}

// fileTexts returns the texts that view file and its triggers should have and have not, by the
// place of the object. Old reports whether some of those that they have are of an older Folio.
// These stay if another program has made one of the objects, as they may not fit the others.
func fileTexts(objects []sqlitefile.Object, clones bool) (texts map[int]string, old bool) {
	texts = make(map[int]string)
	are, were := store.FileStatementsOf(clones), store.FileStatementsOf(!clones)
	var olds []int
	foreign := false
	for i, o := range objects {
		at := slices.IndexFunc(are, func(sql string) bool { return ddl.EqualFold(strings.Fields(sql)[2], o.Name) })
		switch {
		case at < 0 || o.SQL == are[at]:
		case o.SQL == were[at]:
			texts[i] = are[at]
		case store.IsOldStatement(o.SQL):
			olds = append(olds, i)
			texts[i] = are[at]
		default:
			foreign = true
		}
	}
	if foreign {
		for _, i := range olds {
			delete(texts, i)
		}
	}
	return texts, len(olds) > 0 && !foreign
}

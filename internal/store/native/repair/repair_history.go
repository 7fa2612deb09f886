package repair

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A damaged history keeps a volume from being written, or a snapshot from being removed. It is put
// right as far as no guess is needed; live rows are never touched:
//
//	R5  A snapshot keeps its number. If its first inode cannot be right, it becomes the one of the
//	    next snapshot: then it shows files that are younger, but lacks none. Restore removes what a
//	    snapshot lacks.
//	R6  A kept row is removed if its key is impossible or no snapshot can see it, and an entry if it
//	    keeps a directory from being read. The snapshot then shows the live row, and the report says
//	    so. One that was kept for a snapshot that never was is one of the last. A content or an inode
//	    that was kept and cannot be read stays an error.
//	R7  Tables without snapshots are dropped.

// history repairs the history of the volume.
func (r *repairer) history(t *history.Tx) error {
	r.t = t
	if err := r.historyTables(); err != nil {
		return err
	}
	has, err := rowstore.HasHistory(&t.DB.Rx)
	if err != nil {
		return rowstore.UnlessDamaged(err) // tables of another program
	}
	if !has {
		return r.looseHistory()
	}
	last, err := r.snapshots()
	if err != nil {
		return err
	}
	t.Reload()
	if last == 0 {
		r.done(0, "they are removed", "tables of snapshots are there, and no snapshot")
		return t.DropHistory()
	}
	for _, table := range history.SweptTables {
		if err := r.preservedRows(table, last); err != nil {
			return err
		}
	}
	return r.historyStatements()
}

// historyTables makes those tables of snapshots that are missing.
func (r *repairer) historyTables() error {
	t, err := r.t.DB.Rx.Table("snapshot")
	if errors.Is(err, sqlitefile.ErrNoTable) || err == nil && !rowstore.HasColumns(t, rowstore.HistoryShapes[0].Columns) {
		return nil
	}
	for _, sql := range store.HistoryTables {
		name, isTable := strings.CutPrefix(sql, "CREATE TABLE ")
		name, _, _ = strings.Cut(name, " ")
		_, err := r.t.DB.Rx.Table(name)
		if !isTable || !errors.Is(err, sqlitefile.ErrNoTable) {
			continue
		}
		if err := r.t.DB.Exec(sql); err != nil {
			return err
		}
		r.t.Opened = [len(rowstore.TableNames)]bool{}
		r.done(0, "it is made; what it had of the snapshots is lost", "table %s of snapshots is missing", name)
	}
	return nil
}

// looseHistory drops the remaining tables of snapshots if a volume has no table snapshot.
func (r *repairer) looseHistory() error {
	objects, err := r.t.DB.Objects()
	if err != nil {
		return err
	}
	for _, kind := range []string{"trigger", "view", "table"} {
		for _, o := range objects {
			if o.Type != kind || !store.IsHistoryTrigger(o.SQL) && !rowstore.IsHistoryView(o.SQL) && !slices.Contains(store.HistoryTables, o.SQL) {
				continue
			}
			if err := r.t.DB.Exec("DROP " + strings.ToUpper(kind) + " " + o.Name); err != nil {
				return err
			}
			r.done(0, "it is removed", "%s %s belongs to snapshots, and there is no table of these", kind, o.Name)
		}
	}
	r.t.Opened = [len(rowstore.TableNames)]bool{}
	return nil
}

// historyStatements makes the triggers and the views that are missing.
func (r *repairer) historyStatements() error {
	objects, err := r.t.DB.Objects()
	if err != nil {
		return err
	}
	for _, sql := range store.Triggers(true, r.t.HasClones()) {
		name := strings.Fields(sql)[2]
		if slices.ContainsFunc(objects, func(o sqlitefile.Object) bool { return o.SQL == sql || strings.EqualFold(o.Name, name) }) {
			continue
		}
		if err := r.t.DB.Exec(sql); err != nil {
			return err
		}
		r.done(0, "it is made; what SQL has changed without it, the snapshots show as it is now", "trigger %s is missing", name)
	}
	made, err := r.t.AddHistoryViews()
	for _, name := range made {
		r.done(0, "it is made", "view %s of snapshots is missing", name)
	}
	return err
}

// A rawSnapshot is a row of table snapshot, as it is.
type rawSnapshot struct {
	id         int64
	name       any // a string, "" if it was impossible, or nil
	time, next int64
	odd        bool
}

// snapshots repairs the rows of table snapshot, and returns the highest number.
func (r *repairer) snapshots() (last int64, err error) {
	table, err := r.t.Table(rowstore.SnapshotTable)
	if err != nil {
		return 0, err
	}
	highest, err := r.t.LastIno()
	if err != nil {
		return 0, err
	}
	list, err := r.rawSnapshots(table, int64(highest)+1)
	if err != nil {
		return 0, err
	}
	r.raise(list, int64(highest)+1)
	name(list)
	for _, s := range list {
		if s.id <= 0 || s.id >= history.Live {
			r.done(0, "removed", "a snapshot has the number %d", s.id)
			if _, err := table.Delete(s.id); err != nil {
				return 0, err
			}
			continue
		}
		last = s.id
		if !s.odd {
			continue
		}
		r.done(0, fmt.Sprintf("it is called %v; files that are younger may be in it", cmp.Or(s.name, any("removed"))), "snapshot %d has an impossible row", s.id)
		if _, err := table.Update(s.id, s.id, s.name, s.time, s.next); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// rawSnapshots reads table snapshot. Names and times that are impossible are replaced; a next that
// is becomes 0.
func (r *repairer) rawSnapshots(table *sqlitefile.TableWriter, most int64) (list []rawSnapshot, err error) {
	for row, err := range table.All() {
		if err != nil {
			return nil, err
		}
		var v [rowstore.SnapshotColumns]sqlitefile.Value
		if err := row.ValuesUpTo(store.MaxSnapshotName+1, v[:]); err != nil {
			return nil, err
		}
		s := rawSnapshot{id: row.Rowid(), time: v[rowstore.SnapshotTime].Int64(), next: v[rowstore.SnapshotNext].Int64()}
		name := string(v[rowstore.SnapshotName].Bytes())
		switch kind := v[rowstore.SnapshotName].Kind(); {
		case kind == sqlitefile.KindText && store.ValidSnapshotName(name):
			s.name = name
		case kind != sqlitefile.KindNull:
			s.name, s.odd = "", true
		}
		if v[rowstore.SnapshotTime].Kind() != sqlitefile.KindInteger {
			s.time, s.odd = 1, true
		}
		if v[rowstore.SnapshotNext].Kind() != sqlitefile.KindInteger || s.next <= int64(store.Root) || s.next > most {
			s.next, s.odd = 0, true
		}
		list = append(list, s)
	}
	return list, nil
}

// name gives names to the snapshots whose names are impossible.
func name(list []rawSnapshot) {
	for i := range list {
		if list[i].name != "" {
			continue
		}
		name := fmt.Sprint("repaired-", list[i].id)
		for slices.ContainsFunc(list, func(s rawSnapshot) bool { return s.name == name }) {
			name += "-"
		}
		list[i].name = name
	}
}

// raise makes the first inodes that snapshots do not see ascend (R5).
func (r *repairer) raise(list []rawSnapshot, most int64) {
	least := int64(0)
	for i := range list {
		s := &list[i]
		if s.next < least || s.next == 0 {
			s.next, s.odd = most, true
			for _, later := range list[i+1:] {
				if later.next >= max(least, 1) {
					s.next = min(s.next, later.next)
				}
			}
		}
		least = s.next
	}
}

// preservedRows removes rows of a table of kept rows that no snapshot can see, or that have an
// impossible key (R6).
func (r *repairer) preservedRows(table history.SweptTable, last int64) error {
	was, err := r.t.Table(table.Index)
	if err != nil {
		return err
	}
	var gone, late [][]any
	c := was.Cursor()
	ok, err := c.First()
	for ; ok && err == nil; ok, err = c.Next() {
		var v [rowstore.EntryWasUntil + 1]sqlitefile.Value
		key := v[:table.Until+1]
		if err := c.ValuesUpTo(rowstore.MaxEntry, key); err != nil {
			return err
		}
		until := key[table.Until]
		var odd bool
		switch {
		case until.Kind() != sqlitefile.KindInteger || until.Int64() < 1:
			odd = true
		case table.Index == rowstore.EntryWasTable:
			if odd, err = oddKeptEntry(c); err != nil {
				return err
			}
		default:
			odd = oddKey(table.Index, key)
		}
		switch {
		case odd:
			if err := c.Values(key); err != nil { // to the end
				return err
			}
			gone = append(gone, copyOf(key))
		case until.Int64() > last:
			late = append(late, copyOf(key))
		}
	}
	for _, key := range gone {
		if err == nil {
			r.done(0, "removed; snapshots show what is there now", "table %s has an impossible row%s", rowstore.TableNames[table.Index], keyText(key))
			err = r.t.RemovePreserved(was, table.Index, key)
		}
	}
	for _, key := range late {
		if err == nil {
			err = r.advance(was, table, key, last)
		}
	}
	return err
}

// advance makes a kept row one of the last snapshot, unless that has one.
func (r *repairer) advance(was *sqlitefile.TableWriter, table history.SweptTable, key []any, last int64) error {
	row, _, err := was.Find(key...)
	if err != nil {
		return err
	}
	v := make([]sqlitefile.Value, rowstore.TableColumns[table.Index])
	if err := row.ValuesUpTo(store.MaxXattrValue, v); err != nil {
		return err
	}
	values := copyOf(v)
	values[table.Until] = last
	_, there, err := was.Find(values[:table.Until+1]...)
	if err != nil {
		return err
	}
	done := fmt.Sprintf("it is one of snapshot %d", last)
	if there {
		done = "removed, as there is one of the last"
	}
	r.done(0, done, "table %s has a row%s of a snapshot that never was", rowstore.TableNames[table.Index], keyText(key))
	if there {
		return r.t.RemovePreserved(was, table.Index, key)
	}
	if _, err := was.DeleteKey(key...); err != nil {
		return err
	}
	_, err = was.Insert(values...)
	return err
}

// oddKey reports whether no inode, chunk or extended attribute can have a key.
func oddKey(index int, key []sqlitefile.Value) bool {
	if key[0].Kind() != sqlitefile.KindInteger {
		return true
	}
	switch id := key[0].Int64(); index {
	case rowstore.DataWasTable:
		return id < 1<<store.ChunkBits
	case rowstore.XattrWasTable:
		return !store.Ino(id).Valid() || key[rowstore.XattrWasName].Kind() != sqlitefile.KindText
	default:
		return !store.Ino(id).Valid()
	}
}

// oddKeptEntry reports whether the row at a cursor in table entry_was keeps a directory from being
// read.
func oddKeptEntry(c *sqlitefile.Cursor) (bool, error) {
	e, err := history.PreservedEntryAt(c)
	if errors.Is(err, store.ErrDamaged) {
		return true, nil
	}
	return !e.Parent.Valid() || !store.ValidName(e.Name), err
}

// keyText returns a key for a line of the report.
func keyText(key []any) (text string) {
	for _, v := range key {
		switch v := v.(type) {
		case string:
			text += fmt.Sprintf(" %.100q", v)
		case []byte:
			text += fmt.Sprintf(" x'%.50x'", v)
		default:
			text += fmt.Sprint(" ", v)
		}
	}
	return text
}

// copyOf returns the values of a key to find it again.
func copyOf(key []sqlitefile.Value) (values []any) {
	for _, v := range key {
		switch v.Kind() {
		case sqlitefile.KindNull:
			values = append(values, nil)
		case sqlitefile.KindInteger:
			values = append(values, v.Int64())
		case sqlitefile.KindFloat:
			values = append(values, v.Float64())
		case sqlitefile.KindText:
			values = append(values, string(v.Bytes()))
		default:
			values = append(values, slices.Clone(v.Bytes()))
		}
	}
	return values
}

package native

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// List adds the entries of a directory to l, under the engine's guard (N1).
func (r rx) List(dir store.Ino, after string, max int, l *store.Listing) error {
	return r.tx.Guard(func() error { return r.list(dir, after, max, l) })
}

func (r rx) list(dir store.Ino, after string, max int, l *store.Listing) error {
	t, err := r.tx.Table("entry")
	if err != nil {
		return err
	}
	return listEntries(t.Cursor(), dir, after, max, store.MaxIno+1, l)
}

// listEntries adds the entries of a directory that lead to inodes before next.
func listEntries(c *sqlitefile.Cursor, dir store.Ino, after string, max int, next store.Ino, l *store.Listing) error {
	ok, err := c.SeekKey(int64(dir), after)
	var v [entryColumns]sqlitefile.Value
	for n := 0; ok && err == nil; ok, err = c.Next() {
		if err := c.ValuesUpTo(maxEntry, v[:]); err != nil {
			return err
		}
		var e rawEntry
		if store.Ino(v[entryParent].Int64()) != dir {
			return nil
		}
		if err := e.from(&v); err != nil {
			return err
		}
		if e.ino >= next || after != "" && string(e.name) == after {
			continue
		}
		if !store.ValidName(e.name) {
			return store.Damaged("inode %d has an entry with an impossible name: %.1000q", dir, e.name)
		}
		l.Add(e.name, e.ino, e.typ)
		if n++; n == max {
			return nil
		}
	}
	return err
}

// A rawEntry is a row of table entry. Its name points into the database.
type rawEntry struct {
	parent store.Ino
	name   []byte
	ino    store.Ino
	typ    store.Type
}

// decode decodes row and checks all but the name.
func (e *rawEntry) decode(row *sqlitefile.Row) error {
	var v [entryColumns]sqlitefile.Value
	if err := row.ValuesUpTo(maxEntry, v[:]); err != nil {
		return err
	}
	return e.from(&v)
}

// from takes the columns of an entry, and checks all but the name.
func (e *rawEntry) from(v *[entryColumns]sqlitefile.Value) error {
	e.parent = store.Ino(v[entryParent].Int64())
	e.name = v[entryName].Bytes()
	ino, typ := store.Ino(v[entryIno].Int64()), v[entryType].Int64()
	if !rightKinds(v) {
		typ = 0
	}
	if !ino.Valid() || !store.ValidType(typ) {
		return store.Damaged("entry %.1000q of inode %d leads to inode %d of type %d", e.name, e.parent, int64(ino), typ)
	}
	e.ino, e.typ = ino, store.Type(typ)
	return nil
}

// rightKinds reports whether the columns of an entry hold a text and integers.
func rightKinds(v *[entryColumns]sqlitefile.Value) bool {
	return v[entryName].Kind() == sqlitefile.KindText && v[entryParent].Kind() == sqlitefile.KindInteger && v[entryIno].Kind() == sqlitefile.KindInteger &&
		v[entryType].Kind() == sqlitefile.KindInteger
}

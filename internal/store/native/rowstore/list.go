package rowstore

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// List adds the entries of a directory to l, under the engine's guard (N1).
func (r Rx) List(dir store.Ino, after string, max int, l *store.Listing) error {
	return r.Engine.Guard(func() error { return r.list(dir, after, max, l) })
}

func (r Rx) list(dir store.Ino, after string, max int, l *store.Listing) error {
	t, err := r.Engine.Table("entry")
	if err != nil {
		return err
	}
	return ListEntries(t.Cursor(), dir, after, max, store.MaxIno+1, l)
}

// ListEntries adds the entries of a directory that lead to inodes before next.
func ListEntries(c *sqlitefile.Cursor, dir store.Ino, after string, max int, next store.Ino, l *store.Listing) error {
	ok, err := c.SeekKey(int64(dir), after)
	var v [EntryColumns]sqlitefile.Value
	for n := 0; ok && err == nil; ok, err = c.Next() {
		if err := c.ValuesUpTo(MaxEntry, v[:]); err != nil {
			return err
		}
		var e RawEntry
		if store.Ino(v[EntryParent].Int64()) != dir {
			return nil
		}
		if err := e.From(&v); err != nil {
			return err
		}
		if e.Ino >= next || after != "" && string(e.Name) == after {
			continue
		}
		if !store.ValidName(e.Name) {
			return store.Damaged("inode %d has an entry with an impossible name: %.1000q", dir, e.Name)
		}
		l.Add(e.Name, e.Ino, e.Type)
		if n++; n == max {
			return nil
		}
	}
	return err
}

// A RawEntry is a row of table entry. Its name points into the database.
type RawEntry struct {
	Parent store.Ino
	Name   []byte
	Ino    store.Ino
	Type   store.Type
}

// Decode decodes row and checks all but the name.
func (e *RawEntry) Decode(row *sqlitefile.Row) error {
	var v [EntryColumns]sqlitefile.Value
	if err := row.ValuesUpTo(MaxEntry, v[:]); err != nil {
		return err
	}
	return e.From(&v)
}

// From takes the columns of an entry, and checks all but the name.
func (e *RawEntry) From(v *[EntryColumns]sqlitefile.Value) error {
	e.Parent = store.Ino(v[EntryParent].Int64())
	e.Name = v[EntryName].Bytes()
	ino, typ := store.Ino(v[EntryIno].Int64()), v[EntryType].Int64()
	if !RightKinds(v) {
		typ = 0
	}
	if !ino.Valid() || !store.ValidType(typ) {
		return store.Damaged("entry %.1000q of inode %d leads to inode %d of type %d", e.Name, e.Parent, int64(ino), typ)
	}
	e.Ino, e.Type = ino, store.Type(typ)
	return nil
}

// RightKinds reports whether the columns of an entry hold a text and integers.
func RightKinds(v *[EntryColumns]sqlitefile.Value) bool {
	return v[EntryName].Kind() == sqlitefile.KindText && v[EntryParent].Kind() == sqlitefile.KindInteger && v[EntryIno].Kind() == sqlitefile.KindInteger &&
		v[EntryType].Kind() == sqlitefile.KindInteger
}

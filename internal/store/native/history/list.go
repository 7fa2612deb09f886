package history

import (
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A preservedEntry is a row of table entry_was. Its name points into the database.
type preservedEntry struct {
	rowstore.RawEntry
	until int64
}

// PreservedEntryAt decodes the row at a cursor in table entry_was. Its ino is 0 if there was no
// entry.
func PreservedEntryAt(c *sqlitefile.Cursor) (e preservedEntry, err error) {
	var v [rowstore.EntryWasColumns]sqlitefile.Value
	if err := c.ValuesUpTo(rowstore.MaxEntry, v[:]); err != nil {
		return e, err
	}
	return DecodePreservedEntry(&v)
}

func DecodePreservedEntry(v *[rowstore.EntryWasColumns]sqlitefile.Value) (e preservedEntry, err error) {
	e.until = v[rowstore.EntryWasUntil].Int64()
	e.Parent, e.Name = store.Ino(v[rowstore.EntryWasParent].Int64()), v[rowstore.EntryWasName].Bytes()
	entry := [rowstore.EntryColumns]sqlitefile.Value{v[rowstore.EntryWasParent], v[rowstore.EntryWasName], v[rowstore.EntryWasIno], v[rowstore.EntryWasType]}
	switch {
	case v[rowstore.EntryWasIno].Kind() != sqlitefile.KindInteger || v[rowstore.EntryWasIno].Int64() != 0:
		return e, e.From(&entry)
	case !rowstore.RightKinds(&entry):
		return e, store.Damaged("an entry of inode %d that was not there was kept with a value of another kind: %.1000q", e.Parent, e.Name)
	}
	return e, nil
}

// List implements store.Rx.
func (r *Rx) List(dir store.Ino, after string, max int, l *store.Listing) error {
	return r.guard(func() error { return r.ReadList(dir, after, max, l) })
}

// ReadList merges the live entries of a directory with the kept ones, if there are any.
func (r *Rx) ReadList(dir store.Ino, after string, max int, l *store.Listing) error {
	if dir >= r.Next {
		return nil
	}
	was, err := r.preservedEntries(dir, after)
	if err != nil {
		return err
	}
	c, err := r.cursor(&r.now, "entry")
	if err != nil {
		return err
	}
	if !was.ok {
		return rowstore.ListEntries(c, dir, after, max, r.Next, l)
	}
	now, err := liveEntriesOf(c, dir, after)
	if err != nil {
		return err
	}
	for n := 0; (now.ok || was.ok) && (max <= 0 || n < max); {
		e, kept := &now.e, false
		if was.ok && (!now.ok || string(was.e.Name) <= string(now.e.Name)) {
			e, kept = &was.e.RawEntry, true
		}
		if e.Ino != 0 && e.Ino < r.Next {
			if !store.ValidName(e.Name) {
				return store.Damaged("inode %d has an entry with an impossible name: %.1000q", dir, e.Name)
			}
			l.Add(e.Name, e.Ino, e.Type)
			n++
		}
		if now.ok && (!kept || string(now.e.Name) == string(e.Name)) {
			if err := now.next(); err != nil {
				return err
			}
		}
		if kept {
			if err := was.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A liveEntries is a place among the live entries of a directory.
type liveEntries struct {
	c   *sqlitefile.Cursor
	dir store.Ino
	e   rowstore.RawEntry
	ok  bool // there is an entry, e
}

// liveEntriesOf begins at the first live entry behind a name.
func liveEntriesOf(c *sqlitefile.Cursor, dir store.Ino, after string) (p liveEntries, err error) {
	p = liveEntries{c: c, dir: dir}
	if p.ok, err = p.c.SeekKey(int64(dir), after); err == nil {
		err = p.decode()
	}
	if err == nil && p.ok && after != "" && string(p.e.Name) == after {
		err = p.next()
	}
	return p, err
}

func (p *liveEntries) next() (err error) {
	if p.ok, err = p.c.Next(); err != nil {
		return err
	}
	return p.decode()
}

// decode decodes the entry at the cursor.
func (p *liveEntries) decode() error {
	if !p.ok {
		return nil
	}
	var v [rowstore.EntryColumns]sqlitefile.Value
	if err := p.c.ValuesUpTo(rowstore.MaxEntry, v[:]); err != nil {
		return err
	}
	if store.Ino(v[rowstore.EntryParent].Int64()) != p.dir {
		p.ok = false
		return nil
	}
	return p.e.From(&v)
}

// A preservedEntries is a place among the kept entries of a directory that the snapshot sees.
type preservedEntries struct {
	c   *sqlitefile.Cursor
	dir store.Ino
	at  int64
	e   preservedEntry
	ok  bool // there is an entry, e
}

// preservedEntries begins at the first kept entry behind a name.
func (r *Rx) preservedEntries(dir store.Ino, after string) (p preservedEntries, err error) {
	c, err := r.cursor(&r.entries, "entry_was")
	if err != nil {
		return p, err
	}
	p = preservedEntries{c: c, dir: dir, at: r.ID}
	if p.ok, err = c.SeekKey(int64(dir), after); err != nil {
		return p, err
	}
	return p, p.settle([]byte(after))
}

// next moves behind the name of the current entry.
func (p *preservedEntries) next() (err error) {
	name := p.e.Name
	if p.ok, err = p.c.Next(); err != nil {
		return err
	}
	return p.settle(name)
}

// settle moves to the first entry from here on that the snapshot sees, with a name other than the
// given one.
func (p *preservedEntries) settle(not []byte) (err error) {
	for ; p.ok; p.ok, err = p.c.Next() {
		if err != nil {
			return err
		}
		if p.e, err = PreservedEntryAt(p.c); err != nil {
			return err
		}
		if p.e.Parent != p.dir {
			p.ok = false
			return nil
		}
		if p.e.until >= p.at && (len(not) == 0 || string(p.e.Name) != string(not)) {
			return nil
		}
	}
	return err
}

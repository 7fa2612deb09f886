package overlay

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A tx is a write transaction. It implements store.Tx. All that it changes lies in the upper store,
// so that a copy and the change that it was made for are one transaction.
type tx struct {
	rx
	up    store.Tx
	bound []binding // files of the base that it has copied
}

// End does nothing: Update ends the transaction.
func (t *tx) End() {}

// Version implements store.Tx.
func (t *tx) Version() uint64 { return 0 }

// Insert implements store.Tx.
func (t *tx) Insert(n *store.Node) error {
	if isWhiteout(n) {
		return posix.ErrNotPermitted
	}
	return t.insert(n)
}

// insert adds an inode to the upper store.
func (t *tx) insert(n *store.Node) error {
	if err := t.up.Insert(n); err != nil {
		return err
	}
	for _, ino := range t.s.numbers.given(n.Ino) {
		t.s.upper.Unpin(ino)
	}
	return nil
}

// Put implements store.Tx.
func (t *tx) Put(n *store.Node) error {
	m, err := t.changed(n, t.s.options.CopyWholeFile)
	if err != nil {
		return err
	}
	return t.up.Put(&m)
}

// changed returns the inode in the upper store with the attributes of n. It copies the file if it
// is only in the base. The links of a directory are those in the upper store, which Link and Unlink
// count; the size of a content that is in both stores is the one that WriteAt and Truncate have
// set.
func (t *tx) changed(n *store.Node, whole bool) (m store.Node, err error) {
	if isWhiteout(n) {
		return m, posix.ErrNotPermitted
	}
	upper, err := t.ensureAs(n.Ino, whole)
	if err != nil {
		return m, err
	}
	m = *n
	m.Ino = upper
	typ := store.TypeOf(n.Mode)
	if typ != store.Dir && typ != store.File {
		return m, nil
	}
	old, err := t.up.Node(upper)
	if err != nil {
		return m, err
	}
	if typ == store.Dir {
		if m.Nlink > 0 && old.Nlink > 0 {
			m.Nlink = old.Nlink
		}
		return m, nil
	}
	rec, err := t.record(upper)
	if rec != nil {
		m.Size, m.Holes = old.Size, old.Holes
	}
	return m, err
}

// Orphan implements store.Tx.
func (t *tx) Orphan(n *store.Node) error {
	m, err := t.changed(n, false)
	if err == nil && store.TypeOf(m.Mode) == store.Dir {
		err = t.clear(m.Ino)
	}
	if err == nil {
		err = t.up.Orphan(&m)
	}
	if err == nil {
		n.Nlink = 0
	}
	return err
}

// clear removes the whiteouts of a directory that loses its name. Its records stay: they tell what
// the name has hidden.
func (t *tx) clear(dir store.Ino) error {
	var hidden []store.Entry
	for e, err := range t.entries(dir, "") {
		if err != nil {
			return err
		}
		hides, err := t.whiteout(&e)
		if err != nil {
			return err
		}
		if hides {
			hidden = append(hidden, e)
		}
	}
	for _, e := range hidden {
		if err := t.up.Unlink(dir, e.Name); err != nil {
			return err
		}
		if err := t.dropWhiteout(e.Ino); err != nil {
			return err
		}
	}
	return nil
}

// dropWhiteout takes a name from a whiteout. A whiteout made by another program may have several.
func (t *tx) dropWhiteout(ino store.Ino) error {
	n, err := t.up.Node(ino)
	switch {
	case err != nil:
		return err
	case n.Nlink > 1:
		n.Nlink--
		return t.up.Put(&n)
	}
	return t.up.Orphan(&n)
}

// Adopt implements store.Tx.
func (t *tx) Adopt(n *store.Node) error {
	m, err := t.changed(n, t.s.options.CopyWholeFile)
	if err != nil {
		return err
	}
	return t.up.Adopt(&m)
}

// SetXattr implements store.Tx.
func (t *tx) SetXattr(ino store.Ino, name string, value []byte) error {
	upper, err := t.ensure(ino)
	if err != nil {
		return err
	}
	if name = escape(name); len(name) > store.MaxXattrName {
		return posix.ErrInvalid
	}
	return t.up.SetXattr(upper, name, value)
}

// Link implements store.Tx.
func (t *tx) Link(dir store.Ino, e store.Entry) error {
	upper, err := t.ensure(e.Ino)
	if err == nil && t.s.options.CopyWholeFile {
		err = t.fill(upper)
	}
	if err != nil {
		return err
	}
	p, err := t.ensureDir(dir)
	if err != nil {
		return err
	}
	old, hides, err := t.upperEntry(p.node.Ino, e.Name)
	if err != nil {
		return err
	}
	was, err := t.hidden(&p, e.Name, old)
	if err != nil {
		return err
	}
	if old.Ino == 0 && was != nil {
		if err := t.keep(was.Path); err != nil {
			return err
		}
	}
	if was != nil {
		if err := t.replace(upper, was); err != nil {
			return err
		}
	}
	added := 0
	if e.Type == store.Dir {
		added++
	}
	if old.Type == store.Dir {
		added--
	}
	if err := t.up.Link(p.node.Ino, store.Entry{Name: e.Name, Ino: upper, Type: e.Type}); err != nil {
		return err
	}
	if hides {
		if err := t.dropWhiteout(old.Ino); err != nil {
			return err
		}
	}
	return t.addDirs(p.node.Ino, added)
}

// Unlink implements store.Tx.
func (t *tx) Unlink(dir store.Ino, name string) error {
	if _, err := t.Lookup(dir, name); err != nil {
		return err
	}
	p, err := t.ensureDir(dir)
	if err != nil {
		return err
	}
	old, _, err := t.upperEntry(p.node.Ino, name)
	if err != nil {
		return err
	}
	was, err := t.hidden(&p, name, old)
	if err != nil {
		return err
	}
	switch {
	case old.Ino == 0 && was == nil: // the base has changed
		return fs.ErrNotExist
	case old.Ino == 0:
		if err := t.keep(was.Path); err != nil {
			return err
		}
	}
	_, _, err = t.lower(&p, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && old.Ino != 0:
		err = t.up.Unlink(p.node.Ino, name)
	case err == nil:
		err = t.whiteOut(p.node.Ino, name, was)
	}
	if err == nil && old.Type == store.Dir {
		err = t.addDirs(p.node.Ino, -1)
	}
	return err
}

// upperEntry returns the entry of a name in the upper store; its Ino is 0 if there is none. hides
// reports whether it is a whiteout.
func (t *tx) upperEntry(dir store.Ino, name string) (e store.Entry, hides bool, err error) {
	e, err = t.up.Lookup(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Entry{}, false, nil
	}
	if err == nil {
		hides, err = t.whiteout(&e)
	}
	return e, hides, err
}

// hidden returns the base's file at a name when the overlay began to hide it; that is now if the
// upper store has no entry of the name. It returns nil if the base had nothing there.
func (t *tx) hidden(dir *spot, name string, old store.Entry) (*Record, error) {
	if old.Ino == 0 {
		n, full, err := t.lower(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return recordOf(full, &n), err
	}
	below, err := t.below(dir)
	if below == "" || err != nil {
		return nil, err
	}
	return t.recordFor(old.Ino, path.Join(below, name))
}

// recordFor returns the record of an inode of the upper store that is about a path of the base, nil
// if it has none.
func (t *tx) recordFor(upper store.Ino, name string) (*Record, error) {
	list, err := t.up.Xattrs(upper)
	if err != nil {
		return nil, err
	}
	return recordAbout(list, name)
}

// replace notes in an inode of the upper store which file of the base it is about to hide.
func (t *tx) replace(upper store.Ino, was *Record) error {
	rec, err := t.record(upper)
	if err != nil || rec != nil && rec.Path == was.Path {
		return err
	}
	n, err := t.up.Node(upper)
	if err == nil && rec == nil && store.TypeOf(n.Mode) == store.Dir {
		err = t.up.SetXattr(upper, attrOpaque, []byte("y"))
	}
	if err != nil {
		return err
	}
	list, err := t.up.Xattrs(upper)
	if err != nil {
		return err
	}
	all, err := replacedRecords(list)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r *Record) bool { return r.Path == was.Path })
	all = append(all[max(0, len(all)-maxReplaced+1):], was)
	return t.up.SetXattr(upper, attrReplaced, encodeAll(all))
}

// whiteOut puts a whiteout in the place of an entry of the upper store, if there is one.
func (t *tx) whiteOut(dir store.Ino, name string, was *Record) error {
	n := store.Node{Mode: store.ModeChar, Nlink: 1}
	if was != nil {
		n.Mtime, n.Ctime, n.Atime = was.Mtime, was.Mtime, was.Mtime
	}
	if err := t.insert(&n); err != nil {
		return err
	}
	if was != nil {
		if err := t.up.SetXattr(n.Ino, attrRecord, was.encode()); err != nil {
			return err
		}
	}
	return t.up.Link(dir, store.Entry{Name: name, Ino: n.Ino, Type: store.Char})
}

// addDirs counts the directories in a directory of the upper store.
func (t *tx) addDirs(dir store.Ino, added int) error {
	if added == 0 {
		return nil
	}
	n, err := t.up.Node(dir)
	if err != nil {
		return err
	}
	n.Nlink += uint32(added)
	return t.up.Put(&n)
}

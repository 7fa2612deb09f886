package overlay

import (
	"errors"
	"io/fs"
	"path"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// ensure returns the inode in the upper store of an inode of the overlay. It copies the file if it
// is only in the base.
func (t *tx) ensure(ino store.Ino) (store.Ino, error) {
	return t.ensureAs(ino, t.s.options.CopyWholeFile)
}

// ensureAs is ensure. whole says that the content of the file goes with it.
func (t *tx) ensureAs(ino store.Ino, whole bool) (store.Ino, error) {
	if ino < firstLower {
		return ino, nil
	}
	p, err := t.find(ino)
	switch {
	case err != nil:
		return 0, err
	case !p.isLower():
		return p.node.Ino, nil
	}
	if _, _, ok := t.s.numbers.get(ino); !ok {
		return 0, fs.ErrNotExist
	}
	return t.copyUp(p.place, true, whole)
}

// ensureDir is ensure for a directory in which a name changes.
func (t *tx) ensureDir(ino store.Ino) (p spot, err error) {
	upper, err := t.ensure(ino)
	if err != nil {
		return p, err
	}
	p.node, err = t.up.Node(upper)
	if errors.Is(err, fs.ErrNotExist) { // a damaged volume has entries in directories that do not exist
		p.node, err = store.Node{Ino: upper}, nil
	}
	return p, err
}

// keep copies the file at a path of the base without a name: it is about to lose it, or to move. A
// content that must be whole is copied when the file gets a name again.
func (t *tx) keep(name string) error {
	at := t.s.numbers.seen(t.s.numbers.placeOf(path.Dir(name)), path.Base(name), t.seq)
	if p, err := t.find(number(at)); err != nil || !p.isLower() {
		return err
	}
	_, err := t.copyUp(at, false, false)
	return err
}

// upperDir returns the directory of the upper store that is the copy of one in the base.
func (t *tx) upperDir(at int32) (store.Ino, error) {
	if at == top {
		return store.Root, nil
	}
	upper, err := t.ensure(number(at))
	if err != nil {
		return 0, err
	}
	n, err := t.up.Node(upper)
	if err == nil && (n.Nlink == 0 || store.TypeOf(n.Mode) != store.Dir) {
		err = fs.ErrNotExist
	}
	return upper, err
}

// copyUp copies a file of the base: its inode, its attributes and, of a symbolic link, its target.
// With a name it is put where it is in the base.
func (t *tx) copyUp(at int32, named, whole bool) (store.Ino, error) {
	name := t.s.numbers.path(at)
	n, err := t.s.base.stat(name)
	if err != nil {
		return 0, err
	}
	if isWhiteout(&n) {
		return 0, posix.ErrNotPermitted
	}
	var dir store.Ino
	if named {
		if dir, err = t.freeName(at); err != nil {
			return 0, err
		}
	}
	if err := t.copyNode(name, &n, whole); err != nil {
		return 0, err
	}
	if err := t.s.numbers.bind(at, n.Ino, t.s.upper.Pin, t.s.upper.Unpin); err != nil {
		return 0, err
	}
	t.bound = append(t.bound, binding{at, n.Ino})
	if !named {
		return n.Ino, nil
	}
	typ := store.TypeOf(n.Mode)
	err = t.up.Link(dir, store.Entry{Name: path.Base(name), Ino: n.Ino, Type: typ})
	if err == nil && typ == store.Dir {
		err = t.addDirs(dir, 1)
	}
	return n.Ino, err
}

// freeName returns the directory of the upper store for a file of the base, in which there must be
// no entry of its name. Another process may have made one.
func (t *tx) freeName(at int32) (store.Ino, error) {
	f := t.s.numbers.at(at)
	dir, err := t.upperDir(f.dir)
	if err != nil {
		return 0, err
	}
	_, err = t.up.Lookup(dir, f.name)
	switch {
	case err == nil:
		return 0, fs.ErrNotExist
	case errors.Is(err, fs.ErrNotExist):
		return dir, nil
	}
	return 0, err
}

// copyNode adds a copy of an inode of the base, and sets n.Ino.
func (t *tx) copyNode(name string, n *store.Node, whole bool) error {
	attrs, err := t.s.base.xattrs(name)
	if err != nil {
		return err
	}
	rec := recordOf(name, n)
	size := n.Size
	n.Nlink, n.Holes = 1, n.Size
	typ := store.TypeOf(n.Mode)
	switch typ {
	case store.Dir:
		n.Nlink = 2
	case store.Symlink:
		n.Size, n.Holes = 0, 0
	}
	if err := t.insert(n); err != nil {
		return err
	}
	for _, x := range attrs {
		if err := t.up.SetXattr(n.Ino, escape(x.Name), x.Value); err != nil {
			return err
		}
	}
	switch {
	case typ == store.Symlink:
		err = t.copyTarget(name, n, size)
	case typ == store.File && whole:
		err = t.copyContent(name, n, rec)
	case typ == store.Dir:
		err = t.up.SetXattr(n.Ino, attrRedirect, []byte("/"+redirect(name)))
	}
	if err != nil {
		return err
	}
	return t.up.SetXattr(n.Ino, attrRecord, rec.encode())
}

// redirect returns a path as overlayfs has it behind a slash.
func redirect(name string) string {
	if name == "." {
		return ""
	}
	return name
}

func (t *tx) copyTarget(name string, n *store.Node, size int64) error {
	target, err := t.s.base.readLink(name)
	if err == nil && int64(len(target)) != size {
		err = ErrBaseChanged
	}
	if err == nil {
		err = t.up.WriteAt(n, []byte(target), 0)
	}
	if err == nil {
		err = t.up.Put(n)
	}
	return err
}

// wholePiece is how many bytes copyContent copies at once.
const wholePiece = 16 * store.ChunkSize

// copyContent copies all of a content. Nothing is read from the base any more then.
func (t *tx) copyContent(name string, n *store.Node, rec *Record) error {
	p := make([]byte, min(n.Size, wholePiece))
	for off := int64(0); off < n.Size; off += int64(len(p)) {
		p = p[:min(int64(len(p)), n.Size-off)]
		if err := t.s.base.readAt(name, version{rec.Size, rec.Mtime}, p, off); err != nil {
			return err
		}
		if err := t.up.WriteAt(n, p, off); err != nil {
			return err
		}
	}
	rec.Limit = 0
	return t.up.Put(n)
}

// fill copies the part of a content that is read from the base.
func (t *tx) fill(upper store.Ino) error {
	n, err := t.up.Node(upper)
	if errors.Is(err, fs.ErrNotExist) { // which the caller must know
		return nil
	}
	var m *mix
	if err == nil {
		m, err = t.mixOf(&n)
	}
	if m == nil || err != nil {
		return err
	}
	for off := int64(0); off < m.rec.Limit; off += store.ChunkSize {
		if err := t.copyChunk(m, off, off, off); err != nil {
			return err
		}
	}
	m.rec.Limit = 0
	if err := t.up.SetXattr(upper, attrRecord, m.rec.encode()); err != nil {
		return err
	}
	return t.up.Put(&m.node)
}

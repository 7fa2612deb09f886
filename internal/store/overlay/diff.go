package overlay

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// A Kind says how a file differs from the base's file. A file that was moved or made anew may have
// several.
type Kind uint8

// The kinds.
const (
	Made Kind = 1 << iota
	Removed
	Moved
	Content    // or the target of a symbolic link, or a device
	Attributes // permissions, owner, time of modification, extended attributes
)

// A Change is a file that differs from the base.
type Change struct {
	Kind Kind
	Path string    // in the overlay
	Old  string    // of a file that was moved: its path in the base
	Ino  store.Ino // of the file that is there now, or of its whiteout
	Mode uint32    // of the file; if the file was removed, the mode in the base
	// Base is the path in the base that the file hides, "" if its directory has none there. Was is
	// the base's file there, nil if there was none or it is not known. Source is the file that the
	// base had at Old.
	Base        string
	Was, Source *Record
}

// Diff yields the files that differ from the base, sorted by the bytes of the paths' elements. A
// file that was removed and replaced by one of another type is yielded twice. If a directory was
// removed, its entries are not yielded; if one was made, they are. r is a read transaction of s.
func (s *Store) Diff(ctx context.Context, r store.Rx) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		d := &differ{ctx: ctx, r: r.(*rx), moved: make(map[string]string), home: make(map[string]bool), yield: yield}
		err := d.findMoved(store.Root, "", ".")
		for from := range d.home {
			delete(d.moved, from)
		}
		if err == nil {
			err = d.walk(store.Root, "", ".")
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Change{}, err)
		}
	}
}

// errStop ends a walk whose caller wants no more.
var errStop = errors.New("stop")

// maxDepth is how many directories can lie in each other. In a damaged volume one may lie in
// itself.
const maxDepth = 1 << 12

// A differ is a Diff.
type differ struct {
	ctx   context.Context
	r     *rx
	moved map[string]string // paths in the overlay of files that are not where they were, by that
	home  map[string]bool   // paths of the base at which files with several names still are
	depth int
	yield func(Change, error) bool
}

// An upperFile is an entry of the upper store on the walk.
type upperFile struct {
	path  string // in the overlay
	below string // in the base; "" if the directory has none there
	node  store.Node
	rec   *Record // its own; nil if it was not copied up
	was   *Record // of below; or nil
	hides bool    // it is a whiteout
}

// files yields the entries of a directory of the upper store.
func (d *differ) files(dir store.Ino, name, below string) iter.Seq2[*upperFile, error] {
	return func(yield func(*upperFile, error) bool) {
		for e, err := range d.r.entries(dir, "") {
			var f *upperFile
			if err == nil {
				f, err = d.file(e, name, below)
			}
			if errors.Is(err, fs.ErrNotExist) { // a name of a damaged volume that leads nowhere
				continue
			}
			if err == nil {
				err = d.ctx.Err()
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

func (d *differ) file(e store.Entry, name, below string) (*upperFile, error) {
	n, err := d.r.up.Node(e.Ino)
	if err != nil {
		return nil, err
	}
	f := &upperFile{path: path.Join(name, e.Name), node: n, hides: isWhiteout(&n)}
	if below != "" {
		f.below = path.Join(below, e.Name)
	}
	list, err := d.r.up.Xattrs(e.Ino)
	if err != nil {
		return nil, err
	}
	if f.rec, err = findRecord(list, attrRecord); err != nil {
		return nil, err
	}
	if f.below != "" {
		f.was, err = recordAbout(list, f.below)
	}
	return f, err
}

// inside returns the path in the base of the entries of a directory.
func (f *upperFile) inside() string {
	if f.rec == nil {
		return ""
	}
	return f.rec.Path
}

// enter calls fn for a directory.
func (d *differ) enter(f *upperFile, fn func(dir store.Ino, name, below string) error) error {
	if store.TypeOf(f.node.Mode) != store.Dir {
		return nil
	}
	if d.depth++; d.depth > maxDepth {
		return store.Damaged("directories lie in each other: %.200s", f.path)
	}
	defer func() { d.depth-- }()
	return fn(f.node.Ino, f.path, f.inside())
}

// findMoved notes the files that are not where they are in the base.
func (d *differ) findMoved(dir store.Ino, name, below string) error {
	for f, err := range d.files(dir, name, below) {
		if err != nil {
			return err
		}
		if f.hides {
			continue
		}
		switch {
		case f.rec == nil:
		case f.rec.Path != f.below:
			if d.moved[f.rec.Path] == "" {
				d.moved[f.rec.Path] = f.path
			}
		case f.node.Nlink > 1:
			d.home[f.rec.Path] = true
		}
		if err := d.enter(f, d.findMoved); err != nil {
			return err
		}
	}
	return nil
}

// walk yields the changes in a directory.
func (d *differ) walk(dir store.Ino, name, below string) error {
	for f, err := range d.files(dir, name, below) {
		if err == nil {
			err = d.compare(f)
		}
		if err == nil && !f.hides {
			err = d.enter(f, d.walk)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare yields the changes of one name.
func (d *differ) compare(f *upperFile) error {
	var lower store.Node // the base's file there
	there := false
	if f.below != "" {
		var err error
		lower, err = d.r.s.base.stat(f.below)
		if there = err == nil; err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// The base had a file there that is nowhere else. Later changes to it are no loss.
	lost := there && d.moved[f.below] == "" && (f.hides || f.was != nil)
	same := f.rec != nil && f.rec.Path == f.below
	moved := f.rec != nil && !same && d.moved[f.rec.Path] == f.path
	c := Change{Path: f.path, Ino: d.r.s.numbers.shown(f.node.Ino), Mode: f.node.Mode, Base: f.below, Was: f.was}
	gone := c
	gone.Kind, gone.Mode = Removed, lower.Mode
	var err error
	switch {
	case f.hides:
		if lost {
			return d.send(gone)
		}
		return nil
	case moved:
		c.Old, c.Source = f.rec.Path, f.rec
		c.Kind, err = d.differences(f, f.rec.Path, f.rec)
		c.Kind |= Moved
	case same && there:
		c.Kind, err = d.differences(f, f.below, f.rec)
	case lost && store.TypeOf(lower.Mode) == store.TypeOf(f.node.Mode) && store.TypeOf(lower.Mode) != store.Dir:
		c.Kind, err = d.differences(f, f.below, nil)
		lost = false
	default:
		c.Kind = Made
	}
	if err == nil && lost && !same {
		err = d.send(gone)
	}
	if err == nil && c.Kind != 0 {
		err = d.send(c)
	}
	return err
}

func (d *differ) send(c Change) error {
	if !d.yield(c, nil) {
		return errStop
	}
	return nil
}

// differences compares a file with that at a path of the base. If that is another one than the
// record says, the contents count as different.
func (d *differ) differences(f *upperFile, name string, rec *Record) (k Kind, err error) {
	was, err := d.r.s.base.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Content, nil
	}
	if err != nil {
		return 0, err
	}
	n := &f.node
	typ := store.TypeOf(n.Mode)
	if typ != store.TypeOf(was.Mode) || typ == store.File && rec != nil && (was.Size != rec.Size || was.Mtime != rec.Mtime) {
		return Content, nil
	}
	other, err := d.otherContent(f, name, &was)
	if err != nil {
		return 0, err
	}
	attrs, err := d.otherXattrs(f, name)
	if err != nil {
		return 0, err
	}
	if n.Mode != was.Mode || n.UID != was.UID || n.GID != was.GID || attrs || typ != store.Dir && n.Mtime != was.Mtime {
		k |= Attributes
	}
	if other {
		k |= Content
	}
	return k, nil
}

func (d *differ) otherXattrs(f *upperFile, name string) (bool, error) {
	was, err := d.r.s.base.xattrs(name)
	if err != nil {
		return false, err
	}
	is, err := d.r.up.Xattrs(f.node.Ino)
	return !slices.EqualFunc(visible(is), was, func(a, b store.Xattr) bool {
		return a.Name == b.Name && bytes.Equal(a.Value, b.Value)
	}), err
}

// otherContent reports whether the content differs from a file of the base with the same type.
func (d *differ) otherContent(f *upperFile, name string, was *store.Node) (bool, error) {
	n := f.node
	switch store.TypeOf(n.Mode) {
	case store.Char, store.Block:
		return n.Rdev != was.Rdev, nil
	case store.File, store.Symlink:
		if n.Size != was.Size {
			return true, nil
		}
	default:
		return false, nil
	}
	if store.TypeOf(n.Mode) == store.Symlink {
		target, err := d.r.s.base.readLink(name)
		if err != nil {
			return false, err
		}
		p := make([]byte, min(n.Size, store.MaxPath))
		err = d.read(&n, p, 0)
		return string(p) != target, err
	}
	return d.otherBytes(&n, name, was)
}

// otherBytes compares the contents of two regular files of one size. Chunks that are read from that
// of the base anyway are passed over.
func (d *differ) otherBytes(n *store.Node, name string, was *store.Node) (bool, error) {
	m, err := d.r.mixOf(n)
	if err != nil {
		return false, err
	}
	p, q := make([]byte, min(n.Size, wholePiece)), make([]byte, min(n.Size, wholePiece))
	for off := int64(0); off < n.Size; {
		if err := d.ctx.Err(); err != nil {
			return false, err
		}
		end := min(n.Size, off+wholePiece)
		if m != nil && m.rec.Path == name && m.rec.Limit == n.Size {
			stop, stored, err := d.r.run(m, off)
			if err != nil {
				return false, err
			}
			if !stored {
				off = stop
				continue
			}
			end = min(end, stop)
		}
		p, q = p[:end-off], q[:end-off]
		if err := d.read(n, p, off); err != nil {
			return false, err
		}
		if err := d.r.s.base.readAt(name, version{was.Size, was.Mtime}, q, off); err != nil {
			return false, err
		}
		if !bytes.Equal(p, q) {
			return true, nil
		}
		p, q, off = p[:cap(p)], q[:cap(q)], end
	}
	return false, nil
}

// read fills p from an inode of the upper store, as the overlay shows it.
func (d *differ) read(n *store.Node, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	m, err := d.r.mixOf(n)
	if err == nil && m != nil {
		return d.r.readMix(m, p, off)
	}
	if err == nil {
		_, err = d.r.up.ReadAt(*n, p, off)
	}
	return err
}

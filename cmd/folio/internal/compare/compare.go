// Package compare finds the differences between two trees, each of them in a volume or on disk.
//
// It goes through both trees at once, in the order of their names, and keeps in memory only the
// names of the directories that lead to the current one. Contents are compared by parts, each tree
// being read by a goroutine of its own unless they share a view. Only the search for moved files,
// in trees of one volume, keeps the files that have moved.
//
// A file that cannot be looked at or read ends nothing: the caller is told about it, and the
// comparison goes on with the next one.
package compare

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Options say what counts, and who is told.
type Options struct {
	Attributes Attributes // the attributes that are compared
	// Report is called for each change, in the order of the walk: a directory before the files in
	// it, and these in the order of their names. A *ReadError goes to Trouble, and any other error
	// ends the comparison.
	Report func(c *Change) error
	// Trouble is called for each file that cannot be compared.
	Trouble func(err error)
	// Seen counts files and bytes of contents.
	Seen func(files int, bytes int64)
}

// errTypes is the error of two arguments that cannot be compared.
var errTypes = errors.New("is no directory, and the other one is")

// Run compares two trees.
func Run(ctx context.Context, a, b Tree, o *Options) error {
	x, err := a.Top()
	if err != nil {
		return a.Error(".", err)
	}
	y, err := b.Top()
	if err != nil {
		return b.Error(".", err)
	}
	if x.IsDir() != y.IsDir() {
		file := x
		if x.IsDir() {
			file = y
		}
		return failure.Rehint(failure.At(file.tree.Name(), errTypes), "compare two directories, or two files")
	}
	w := &walk{Options: o, ctx: ctx, merger: merger{a, b, o.Trouble}}
	w.contents.apart = a.Origin() != b.Origin() || a.Origin().Volume == ""
	w.contents.seen = func(bytes int64) { o.Seen(0, bytes) }
	if a.Origin().Volume != "" && a.Origin().Volume == b.Origin().Volume && !w.same(x, y) {
		if w.moves, err = findMoves(a, b, w.same); err != nil {
			return err
		}
	}
	return w.visit(x, y)
}

// A walk is one comparison.
type walk struct {
	*Options
	merger
	ctx      context.Context
	moves    moves
	contents contents
}

// visit compares two files of one name, and all that is in them. One of them may be nil.
func (w *walk) visit(a, b *File) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	w.Seen(1, 0)
	if w.same(a, b) {
		return nil
	}
	c, err := w.difference(a, b)
	if err == nil && c.Kind != 0 {
		err = w.Report(&c)
	}
	if e, ok := errors.AsType[*ReadError](err); ok {
		w.Trouble(e.File.tree.Error(e.File.Name, e.Err))
		err = nil
	}
	if err != nil {
		return err
	}
	if a, b = orNil(a), orNil(b); a != nil || b != nil {
		return w.directories(a, b, w.visit)
	}
	return nil
}

// same reports whether two files are one inode at one moment. Then nothing differs, nor does
// anything below. An inode of 0 means that the system does not tell.
func (w *walk) same(a, b *File) bool {
	return a != nil && b != nil && a.ID == b.ID && a.ID.Ino != 0 && w.a.Origin() == w.b.Origin()
}

// untouched reports whether two files of any type but a directory are one inode of a volume at two
// moments, between which nothing has changed it. Each change of an inode sets its Ctime.
func (w *walk) untouched(a, b *File) bool {
	o := w.a.Origin()
	return o.Volume != "" && o.Volume == w.b.Origin().Volume && a.ID == b.ID && !a.Mode.IsDir() &&
		a.ChangeTime.Equal(b.ChangeTime) && a.ModTime.Equal(b.ModTime) && a.Size == b.Size && a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID
}

// difference says how two files differ. The result has no Kind if they do not.
func (w *walk) difference(a, b *File) (c Change, err error) {
	switch {
	case a == nil:
		c = Change{Kind: Added, Path: b.Name, New: b}
		if old := w.moves.from[b.Name]; old != nil {
			c.Kind, c.Old, c.WithDir = Moved, old, w.moves.withDir(old, b.Name)
			err = w.differences(&c)
		}
		return c, err
	case b == nil:
		c = Change{Path: a.Name, Old: a}
		if !w.moves.gone[a.Name] {
			c.Kind = Removed
		}
		return c, nil
	}
	c = Change{Path: b.Name, Old: a, New: b}
	if c.Path == "." && !b.IsDir() {
		c.Path = w.b.Base()
	}
	if a.Mode.Type() != b.Mode.Type() {
		c.Kind = Retyped
		return c, nil
	}
	return c, w.differences(&c)
}

// differences compares two files of one type.
func (w *walk) differences(c *Change) error {
	a, b := c.Old, c.New
	if w.untouched(a, b) {
		return nil
	}
	same, err := w.sameContent(a, b)
	if err != nil {
		return err
	}
	if !same {
		c.Kind |= Modified
	}
	if c.Attributes, err = w.differentAttributes(a, b); c.Attributes != 0 {
		c.Kind |= Described
	}
	return err
}

// sameContent compares content, target or device number, as the type requires.
func (w *walk) sameContent(a, b *File) (bool, error) {
	switch {
	case a.Mode.IsRegular():
		return w.contents.equal(a, b)
	case a.Mode&fs.ModeSymlink != 0:
		return a.Linkname == b.Linkname, nil
	case a.Mode&fs.ModeDevice != 0:
		return a.Rdev == b.Rdev, nil
	}
	return true, nil
}

func (w *walk) differentAttributes(a, b *File) (list Attributes, err error) {
	link := a.Mode&fs.ModeSymlink != 0
	if !link && a.Mode != b.Mode {
		list |= Mode
	}
	if a.UID != b.UID || a.GID != b.GID {
		list |= Owner
	}
	if !tree.SameTime(a.ModTime, b.ModTime) {
		list |= Times
	}
	if w.Attributes&Xattrs != 0 {
		same, err := w.sameXattrs(a, b)
		if err != nil {
			return 0, err
		}
		if !same {
			list |= Xattrs
		}
	}
	return list & w.Attributes, nil
}

// sameXattrs compares extended attributes. Of files on disk only those of regular files and
// directories are known, and of these only user.*, as import takes them in.
func (w *walk) sameXattrs(a, b *File) (bool, error) {
	disk := w.a.Origin().Volume == "" || w.b.Origin().Volume == ""
	if disk && !a.Mode.IsRegular() && !a.Mode.IsDir() {
		return true, nil
	}
	x, err := a.inode.xattrs()
	if err != nil {
		return false, &ReadError{a, err}
	}
	y, err := b.inode.xattrs()
	if err != nil {
		return false, &ReadError{b, err}
	}
	if disk {
		ofSystem := func(name string, _ []byte) bool { return !strings.HasPrefix(name, "user.") }
		maps.DeleteFunc(x, ofSystem)
		maps.DeleteFunc(y, ofSystem)
	}
	return maps.EqualFunc(x, y, bytes.Equal), nil
}

// A merger goes through two trees together.
type merger struct {
	a, b    Tree
	trouble func(err error) // is told about each file that cannot be looked at
}

// directories calls visit for each name in two directories, in order. A file is nil if its
// directory does not have the name. A directory may be nil, which stands for an empty one.
//
// If one of two directories cannot be listed, nothing is known of the names in them.
func (m *merger) directories(a, b *File, visit func(a, b *File) error) error {
	left, okLeft := m.list(a)
	right, okRight := m.list(b)
	if !okLeft || !okRight {
		return nil
	}
	return tree.Pairs(left.names, right.names, func(i, j int) error {
		var x, y *File
		okX, okY := true, true
		if i >= 0 {
			x, okX = m.file(a, left, i)
		}
		if j >= 0 {
			y, okY = m.file(b, right, j)
		}
		if !okX || !okY {
			return nil
		}
		return visit(x, y)
	})
}

func (m *merger) list(dir *File) (children, bool) {
	if dir == nil {
		return children{}, true
	}
	l, err := dir.inode.list()
	if err != nil {
		m.trouble(dir.tree.Error(dir.Name, err))
	}
	return l, err == nil
}

func (m *merger) file(dir *File, l children, i int) (*File, bool) {
	f, err := l.file(i)
	if err != nil {
		m.trouble(dir.tree.Error(tree.Join(dir.Name, l.names.At(i)), err))
	}
	return f, err == nil
}

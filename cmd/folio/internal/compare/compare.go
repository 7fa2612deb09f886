// Package compare finds the differences between two trees, each of them in a volume or on disk.
//
// It goes through both trees at once, in the order of their names, and keeps in memory only the
// names of the directories that lead to the current one. Contents are compared by parts, each tree
// being read by a goroutine of its own unless they share a view. Only the search for moved files,
// in trees of one volume, keeps the files that have moved.
//
// sync, which walks the disk on several goroutines, has a walk of its own. It compares files by the
// same Comparer.
//
// A file that cannot be looked at or read ends nothing: it is reported to
// Options.Trouble, and the comparison goes on with the next one.
package compare

import (
	"context"
	"errors"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Options say which differences count, and have the functions that report them.
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
		name := a.Name()
		if x.IsDir() {
			name = b.Name()
		}
		return failure.Rehint(failure.At(name, errTypes), "compare two directories, or two files")
	}
	onDisk := a.Origin().Volume == "" || b.Origin().Volume == ""
	w := &walk{Options: o, ctx: ctx, merger: merger{a, b, o.Trouble}, comparer: Comparer{
		Ctx: ctx, Attributes: o.Attributes, OfUsers: onDisk, Ahead: onDisk || a.Origin() != b.Origin(),
		Read: func(bytes int64) { o.Seen(0, bytes) },
	}}
	if !onDisk && a.Origin().Volume == b.Origin().Volume && !w.same(x, y) {
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
	comparer Comparer
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
		from := w.b
		if e.File == c.Old {
			from = w.a
		}
		w.Trouble(from.Error(e.File.Name, e.Err))
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
	kind, attributes, err := w.comparer.Compare(a, b)
	c.Kind |= kind
	c.Attributes = attributes
	return err
}

// A merger goes through two trees together.
type merger struct {
	a, b    Tree
	trouble func(err error) // is told about each file that cannot be looked at
}

// directories calls visit for each name in two directories, in order. A file is nil if its
// directory lacks the name. A directory may be nil, which stands for an empty one.
//
// If one of two directories cannot be listed, nothing is known of the names in them.
func (m *merger) directories(a, b *File, visit func(a, b *File) error) error {
	left, okLeft := m.list(m.a, a)
	right, okRight := m.list(m.b, b)
	if !okLeft || !okRight {
		return nil
	}
	return tree.Pairs(left.names, right.names, func(i, j int) error {
		var x, y *File
		okX, okY := true, true
		if i >= 0 {
			x, okX = m.file(m.a, a, left, i)
		}
		if j >= 0 {
			y, okY = m.file(m.b, b, right, j)
		}
		if !okX || !okY {
			return nil
		}
		return visit(x, y)
	})
}

// list lists a directory, which is nil on a side that has none. If it cannot be listed, that is
// reported, and the comparison goes on with the next directory.
func (m *merger) list(t Tree, dir *File) (children, bool) {
	if dir == nil {
		return children{}, true
	}
	l, err := dir.inode.list()
	if err != nil {
		m.trouble(t.Error(dir.Name, err))
	}
	return l, err == nil
}

func (m *merger) file(t Tree, dir *File, l children, i int) (*File, bool) {
	f, err := l.file(i)
	if err != nil {
		m.trouble(t.Error(tree.Join(dir.Name, l.names.At(i)), err))
	}
	return f, err == nil
}

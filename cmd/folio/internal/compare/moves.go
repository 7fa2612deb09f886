package compare

import (
	"path"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/inoset"
)

// A moves knows the files that have one name in the first tree only, and another one in the second
// tree only. Their inodes tell.
type moves struct {
	from map[string]*File // of the first tree, by the path in the second one
	gone map[string]bool  // their paths in the first tree
}

// withDir reports whether a file that was moved from old has the name that it got because its
// directory was moved.
func (m *moves) withDir(old *File, now string) bool {
	dir := m.from[path.Dir(now)]
	return dir != nil && tree.Join(dir.Name, path.Base(now)) == old.Name
}

// findMoves goes through two trees of one volume twice. The first time it takes note of the inodes
// with a name in one of the trees only, a bit for each. The second time it keeps the files
// that were met in both. Files that cannot be looked at are no matter: the comparison meets them
// again.
func findMoves(a, b Tree, same func(a, b *File) bool) (m moves, err error) {
	f := &moveFinder{merger: merger{a, b, func(error) {}}, same: same}
	if err := f.walk(); err != nil || !f.both {
		return m, err
	}
	f.removed, f.added = make(map[uint64]*File), make(map[uint64]*File)
	if err := f.walk(); err != nil {
		return m, err
	}
	m.from, m.gone = make(map[string]*File), make(map[string]bool)
	for ino, old := range f.removed {
		if now, ok := f.added[ino]; ok && now.Mode.Type() == old.Mode.Type() {
			m.from[now.Name], m.gone[old.Name] = old, true
		}
	}
	return m, nil
}

// A moveFinder collects the inodes of files with a name in one of two trees only.
type moveFinder struct {
	merger
	same           func(a, b *File) bool
	left, right    inoset.Set       // inodes of the names that only the first, or the second, tree has
	both           bool             // an inode is in left and in right
	removed, added map[uint64]*File // of those inodes; of several names the first; nil in the first walk
}

func (f *moveFinder) walk() error {
	a, err := f.a.Top()
	if err != nil {
		return f.a.Error(".", err)
	}
	b, err := f.b.Top()
	if err != nil {
		return f.b.Error(".", err)
	}
	return f.visit(a, b)
}

// visit notes files that one side lacks, and goes down where the sides differ.
func (f *moveFinder) visit(a, b *File) error {
	switch {
	case a == nil:
		f.note(b, &f.right, &f.left, f.added)
	case b == nil:
		f.note(a, &f.left, &f.right, f.removed)
	case f.same(a, b):
		return nil
	}
	if a, b = orNil(a), orNil(b); a != nil || b != nil {
		return f.directories(a, b, f.visit)
	}
	return nil
}

// note takes note of a file that only one tree has.
func (f *moveFinder) note(file *File, own, other *inoset.Set, keep map[uint64]*File) {
	ino := file.ID.Ino
	if keep == nil {
		own.Add(ino)
		f.both = f.both || other.Has(ino)
		return
	}
	if own.Has(ino) && other.Has(ino) && keep[ino] == nil {
		keep[ino] = file
	}
}

// orNil returns a directory, or nil for any other file.
func orNil(f *File) *File {
	if f.IsDir() {
		return f
	}
	return nil
}

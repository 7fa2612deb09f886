package compare

import "github.com/foliofs/folio/cmd/folio/internal/tree"

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

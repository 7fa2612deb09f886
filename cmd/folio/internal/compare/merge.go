package compare

import "strings"

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
	for i, j := 0, 0; i < left.len() || j < right.len(); {
		var x, y *File
		order, ok := compareNext(left, i, right, j), true
		if order <= 0 {
			x, ok = m.file(a, left, i)
			i++
		}
		if order >= 0 {
			var found bool
			y, found = m.file(b, right, j)
			ok = ok && found
			j++
		}
		if !ok {
			continue
		}
		if err := visit(x, y); err != nil {
			return err
		}
	}
	return nil
}

// compareNext compares the next names of two lists. The end of a list comes after all names.
func compareNext(a names, i int, b names, j int) int {
	switch {
	case i == a.len():
		return 1
	case j == b.len():
		return -1
	}
	return strings.Compare(a.name(i), b.name(j))
}

func (m *merger) list(dir *File) (names, bool) {
	if dir == nil {
		return noNames{}, true
	}
	l, err := dir.inode.list()
	if err != nil {
		m.trouble(dir.tree.Error(dir.Path, err))
	}
	return l, err == nil
}

func (m *merger) file(dir *File, l names, i int) (*File, bool) {
	f, err := l.file(i)
	if err != nil {
		m.trouble(dir.tree.Error(join(dir.Path, l.name(i)), err))
	}
	return f, err == nil
}

// join returns the path of a name in a directory, which may be one that leads elsewhere.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// A noNames is the names of a directory that does not exist.
type noNames struct{}

func (noNames) len() int                { return 0 }
func (noNames) name(int) string         { panic("no such name") }
func (noNames) file(int) (*File, error) { panic("no such file") }

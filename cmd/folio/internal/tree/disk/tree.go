// Package disk reads trees of files on disk, and writes them.
//
// # Reading
//
// A Tree is a source: Walk yields its entries. Diff compares it with something else, on all cores,
// and a Browser looks at one file after the other. All of them open each directory by its name
// within the one above, never by a path, and follow no symbolic link.
//
// # Writing
//
// A Writer is a sink. Every name is a single element, and every file is made by an os.Root of its
// directory. So nothing is written outside of the directory of the Writer, whatever names and links
// a volume holds, and even if another process replaces directories by links meanwhile. A file in
// the way is removed or replaced by its name, if the caller asked for that, and never written
// through.
//
// Workers write small files. A directory gets its times and its mode after the last file in it is
// complete.
package disk

import (
	"os"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A Tree is a file on disk and, if it is a directory, all that is in it. The file is the entry ".".
// A walk opens each directory by its name within the one above, never by a path: depth has no
// limit, and a rename meanwhile cannot lead it elsewhere.
type Tree struct {
	Title string     // how errors name it
	dir   *dirHandle // the directory that the file is in, or the file itself
	name  string     // in dir; "." for dir itself
	o     *tree.Options
}

// OpenDir opens the directory at path, through symbolic links.
func OpenDir(path string, o *tree.Options) (*Tree, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = tree.OpenError(path, tree.ErrNotDir)
	}
	if err != nil {
		return nil, err
	}
	root, err := openRoot(path)
	if err != nil {
		return nil, err
	}
	return &Tree{Title: path, dir: root, name: ".", o: o.OrDefault()}, nil
}

// OpenFile opens the file at path, which may be a directory. It does not take a file for an
// archive. A symbolic link at the end of path is the file.
func OpenFile(path string, o *tree.Options) (*Tree, error) {
	at, name := filepath.Dir(path), filepath.Base(path)
	if last := path[len(path)-1]; name == "." || name == ".." || os.IsPathSeparator(last) {
		at, name = path, "."
	}
	dir, err := openRoot(at)
	if err != nil {
		return nil, err
	}
	if _, err := dir.lstat(name); err != nil {
		dir.release()
		return nil, tree.OpenError(path, err)
	}
	return &Tree{Title: path, dir: dir, name: name, o: o.OrDefault()}, nil
}

// Fail implements Source.
func (t *Tree) Fail(err error) error { return failure.InTree(t.Title, err) }

// Close implements Source.
func (t *Tree) Close() error {
	t.dir.release()
	return nil
}

// top looks at the file that the tree begins with.
func (s *scan) top() (*File, error) {
	st, err := s.tree.dir.stat()
	if err != nil {
		return nil, err
	}
	return (&Dir{Path: ".", name: ".", stat: st, scan: s}).File(s.tree.name)
}

// open returns a directory, with a path in the tree.
func (s *scan) open(f *File, path string) *Dir {
	if f.Name == "." {
		return f.Dir
	}
	return &Dir{Path: path, Up: f.Dir, name: f.Name, stat: f.stat, scan: s}
}

// ParentID identifies the directory that a file is in, for Options.Skip.
func ParentID(path string) (tree.FileID, error) {
	dir, err := openRoot(filepath.Dir(path))
	if err != nil {
		return tree.FileID{}, err
	}
	defer dir.release()
	st, err := dir.stat()
	return st.id, err
}

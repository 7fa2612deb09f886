package harness

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/foliofs/folio/lab/workload"
)

// A TreeStore keeps files by directory and name, as a program does that stores a tree in a
// database. It belongs to one goroutine.
type TreeStore interface {
	// Import calls fn within one transaction; put stores an entry.
	Import(fn func(put func(dir string, n *Node, content []byte) error) error) error
	// Find returns an entry; nil if there is none.
	Find(dir, name string) (*Node, error)
	// List returns the entries of a directory, by name.
	List(dir string) ([]*Node, error)
	// Content returns the content of a file, for the caller to keep.
	Content(n *Node) ([]byte, error)
	// ReadAt reads a part of it into p.
	ReadAt(n *Node, p []byte, off int64) (int, error)
}

// A Node is an entry of a TreeStore: a directory or a regular file. It is its own fs.FileInfo and
// fs.DirEntry.
type Node struct {
	ID      int64 // of its content
	Base    string
	Perm    fs.FileMode // with fs.ModeDir
	Bytes   int64
	Changed int64 // nanoseconds after 1970 began
}

// Name and the next methods implement fs.FileInfo and fs.DirEntry.
func (n *Node) Name() string               { return n.Base }
func (n *Node) Size() int64                { return n.Bytes }
func (n *Node) Mode() fs.FileMode          { return n.Perm }
func (n *Node) Type() fs.FileMode          { return n.Perm.Type() }
func (n *Node) ModTime() time.Time         { return time.Unix(0, n.Changed) }
func (n *Node) IsDir() bool                { return n.Perm.IsDir() }
func (n *Node) Sys() any                   { return nil }
func (n *Node) Info() (fs.FileInfo, error) { return n, nil }

// ImportTree stores a tree on a tree store.
func ImportTree(s TreeStore, src fs.FS) error {
	return s.Import(func(put func(dir string, n *Node, content []byte) error) error {
		id := int64(0)
		return workload.Each(src, func(name string, info fs.FileInfo, data []byte) error {
			id++
			dir, base := path.Split(name)
			n := &Node{ID: id, Base: base, Perm: info.Mode(), Bytes: int64(len(data)), Changed: info.ModTime().UnixNano()}
			return put(strings.TrimSuffix(dir, "/"), n, data)
		})
	})
}

// StoreFS is a tree store as io/fs sees it.
func StoreFS(s TreeStore) fs.FS { return storeFS{s} }

type storeFS struct{ s TreeStore }

// root is the entry that no tree store has.
var root = &Node{Base: ".", Perm: fs.ModeDir | 0o755}

// find returns the entry with a path, and that path as directories are known by.
func (f storeFS) find(op, name string) (*Node, string, error) {
	if !fs.ValidPath(name) {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return root, "", nil
	}
	dir, base := path.Split(name)
	n, err := f.s.Find(strings.TrimSuffix(dir, "/"), base)
	if err == nil && n == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	return n, name, nil
}

func (f storeFS) Open(name string) (fs.File, error) {
	n, full, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	return &storeFile{s: f.s, n: n, path: full}, nil
}

func (f storeFS) Stat(name string) (fs.FileInfo, error) {
	n, _, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// ReadDir asks for the entries only: to walk a tree nothing else is needed.
func (f storeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "." {
		name = ""
	}
	list, err := f.s.List(name)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	out := make([]fs.DirEntry, len(list))
	for i, n := range list {
		out[i] = n
	}
	return out, nil
}

func (f storeFS) ReadFile(name string) ([]byte, error) {
	n, _, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	return f.s.Content(n)
}

// A storeFile is an open file.
type storeFile struct {
	s    TreeStore
	n    *Node
	path string
	off  int64
}

func (f *storeFile) Stat() (fs.FileInfo, error) { return f.n, nil }

func (f *storeFile) Close() error { return nil }

func (f *storeFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.off)
	f.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *storeFile) ReadAt(p []byte, off int64) (int, error) {
	if f.n.IsDir() {
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: errors.New("is a directory")}
	}
	want := min(int64(len(p)), max(0, f.n.Bytes-off))
	if want == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	n, err := f.s.ReadAt(f.n, p[:want], off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

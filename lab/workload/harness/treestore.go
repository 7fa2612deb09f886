package harness

import (
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/foliofs/folio/lab/workload"
)

// A TreeStore keeps files by directory and name, as a program does that stores a tree in a
// database. Only one goroutine may use it.
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

// find returns the entry with a path.
func (f storeFS) find(op, name string) (n *Node, err error) {
	if name == "." {
		return root, nil
	}
	dir, base := path.Split(name)
	if !fs.ValidPath(name) {
		err = fs.ErrInvalid
	} else if n, err = f.s.Find(strings.TrimSuffix(dir, "/"), base); err == nil && n == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return n, nil
}

func (f storeFS) Open(name string) (fs.File, error) {
	n, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	return &storeFile{io.NewSectionReader(content{f.s, n}, 0, n.Bytes), n}, nil
}

func (f storeFS) Stat(name string) (fs.FileInfo, error) {
	n, err := f.find("stat", name)
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
	n, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	return f.s.Content(n)
}

// A storeFile is an open file, whose bytes are asked for as they are read. A directory has none.
type storeFile struct {
	*io.SectionReader
	n *Node
}

func (f *storeFile) Stat() (fs.FileInfo, error) { return f.n, nil }

func (f *storeFile) Close() error { return nil }

// content is the content of a file. It is asked for no bytes beyond its size.
type content struct {
	s TreeStore
	n *Node
}

func (c content) ReadAt(p []byte, off int64) (int, error) { return c.s.ReadAt(c.n, p, off) }

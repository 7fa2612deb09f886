package compare

import (
	"io"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A Tree is a file and, if it is a directory, all that is in it. It belongs to one goroutine.
type Tree interface {
	// Name is how the command line names the tree.
	Name() string
	// Base is the name of the file that the tree begins with.
	Base() string
	// Top begins a walk. It returns the file that the tree begins with. A symbolic link that the
	// command line names is followed, and no other one.
	Top() (*File, error)
	// Error names a file of the tree in an error.
	Error(path string, err error) error
	// Origin says where the files of the tree are.
	Origin() Origin
}

// An Origin is where the files of a tree are. Inodes of trees with equal Origins are the same
// files, as they are at one moment.
type Origin struct {
	Volume string // "" for files on disk; the same text for one volume, by whatever name
	Moment string // a state of the volume; "" for the newest one
}

// A File is a file of a tree. Its Name is its path below the top of the tree, "." for the top.
type File struct {
	tree.Entry
	tree  Tree
	inode inode
}

// An inode is a file as its tree knows it.
type inode interface {
	open() (io.ReadCloser, error)
	xattrs() (map[string][]byte, error)
	list() (children, error)
}

// The children of a directory are looked at one by one: only the names of a large directory are in
// memory.
type children struct {
	names tree.Names
	file  func(i int) (*File, error)
}

// IsDir reports whether f is a directory. nil is none.
func (f *File) IsDir() bool { return f != nil && f.Mode.IsDir() }

// Open opens a regular file for reading.
func (f *File) Open() (io.ReadCloser, error) { return f.inode.open() }

// A ReadError says that a file could not be read.
type ReadError struct {
	File *File
	Err  error
}

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

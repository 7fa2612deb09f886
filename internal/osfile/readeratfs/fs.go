// Package readeratfs is an osfile.System of one file, the bytes of an io.ReaderAt, which must not
// change. Locks always succeed, there are no side files and no maps, and operations that would
// write fail with fs.ErrPermission.
package readeratfs

import (
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile"
)

// An FS holds the file. It is safe for concurrent use if the reader is.
type FS struct {
	name string
	r    io.ReaderAt
	size int64
}

var _ osfile.System = (*FS)(nil)

// New returns a system with one file, which has this name and the first size bytes of r.
func New(name string, r io.ReaderAt, size int64) *FS { return &FS{name, r, size} }

// Open opens the file for reading. Any other name gives fs.ErrNotExist.
func (f *FS) Open(name string, flag int, _ fs.FileMode) (osfile.Handle, error) {
	switch {
	case flag != osfile.ReadOnly && flag != osfile.ReadOnly|osfile.NoFollow:
		return nil, refuse("open", name)
	case name != f.name:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &handle{FS: f}, nil
}

// OpenSide finds no side file.
func (f *FS) OpenSide(_ osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	return f.Open(f.name+suffix, flag, 0)
}

// SideExists finds no side file.
func (f *FS) SideExists(osfile.Handle, string) (size int64, ok bool, err error) { return 0, false, nil }

// Exists reports whether the file has this name, and its size.
func (f *FS) Exists(name string) (size int64, ok bool, err error) {
	if name != f.name {
		return 0, false, nil
	}
	return f.size, true, nil
}

// Remove is refused.
func (f *FS) Remove(name string) error { return refuse("remove", name) }

// Rename is refused.
func (f *FS) Rename(from, _ string) error { return refuse("rename", from) }

// SyncDir does nothing.
func (f *FS) SyncDir(string) error { return nil }

func refuse(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission} }

// Package memfs is an osfile.System whose files are in memory, for one database that no other
// process shares. There are no maps, no directories and no permissions. Handles of one FS stand for
// as many open files: their locks conflict. An FS is safe for concurrent use.
package memfs

import (
	"io/fs"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
)

// An FS holds files until their last handle is closed. Then they are gone.
type FS struct {
	mu      sync.Mutex // guards what follows
	names   map[string]*inode
	handles int
}

var _ osfile.System = (*FS)(nil)

// New returns a system without files.
func New() *FS { return &FS{names: make(map[string]*inode)} }

// Open opens a file, or makes it.
func (f *FS) Open(name string, flag int, _ fs.FileMode) (osfile.Handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[name]
	switch {
	case i == nil && flag&osfile.Create == 0:
		return nil, pathError("open", name, fs.ErrNotExist)
	case i == nil:
		i = new(inode)
		f.names[name] = i
	case flag&osfile.CreateNew == osfile.CreateNew:
		return nil, pathError("open", name, fs.ErrExist)
	}
	f.handles++
	return &handle{fs: f, inode: i, name: name, writable: flag&osfile.ReadWrite != 0}, nil
}

// OpenSide opens the file next to a database, or makes it.
func (f *FS) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	return f.Open(db.Name()+suffix, flag, 0)
}

// SideExists reports whether a database has the file with this suffix, and its size.
func (f *FS) SideExists(db osfile.Handle, suffix string) (size int64, ok bool, err error) {
	return f.Exists(db.Name() + suffix)
}

// Exists reports whether there is a file of that name, and its size.
func (f *FS) Exists(name string) (size int64, ok bool, err error) {
	i := f.find(name)
	if i == nil {
		return 0, false, nil
	}
	return i.length(), true, nil
}

func (f *FS) find(name string) *inode {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[name]
}

// Remove removes a name. Handles go on with the file.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names[name] == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	delete(f.names, name)
	return nil
}

// Rename gives a file another name, in place of the file that may have it.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[from]
	if i == nil {
		return pathError("rename", from, fs.ErrNotExist)
	}
	delete(f.names, from)
	f.names[to] = i
	return nil
}

// SyncDir does nothing.
func (f *FS) SyncDir(string) error { return nil }

// release counts a handle that is closed. After the last one no file is left.
func (f *FS) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handles--; f.handles == 0 {
		clear(f.names)
	}
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

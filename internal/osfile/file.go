// Package osfile is the only package that touches the operating system: files, byte-range locks,
// read-only maps, and durable replacement of a file. It knows nothing of any file format.
//
// # Sharing a file with other code in the same process
//
// POSIX record locks belong to a process and an inode. When a process closes any descriptor of a
// file, it loses all its POSIX locks on that file, through whichever descriptor they were taken. A
// C SQLite that lives in this process would lose its locks whenever we closed the same database.
// Hence two rules. This package locks with open file description locks, which such a close does not
// touch. And File.Close closes the descriptor only if no other code in the process has the file
// open, and otherwise parks it for the next Open (registry.go).
//
// # Concurrency
//
// The methods of a File may be called by several goroutines at once, except for Close, Discard,
// ReplaceDurably and PlaceDurably, which end its use: no other method may be running.
// Locks belong to the File, not to a goroutine.
//
// # Errors
//
// Errors are *fs.PathError, with Op in the spelling of package os; io.EOF comes bare.
package osfile

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// A File is one open file description of one regular file: locks taken through one File conflict
// with another's, even in one process.
//
// A File that is dropped without Close keeps its descriptor until the process ends. There is no
// finalizer, because an unexpected close would drop the locks that this package must protect.
type File struct {
	name    string
	d       *description
	temp    bool // made by CreateTemp, and its name not yet given away
	adopted bool // Adopt was called
	closed  atomic.Bool
}

// Open opens a regular file. It takes the flags of os.OpenFile; the descriptor is always closed on
// exec. Symbolic links are resolved once, here, and the file at the end of them is opened without
// following another. Anything but a regular file gives ErrNotRegular and is never opened, so that a
// pipe cannot block. With NoFollow that includes a symbolic link in the last element.
func Open(name string, flag int, perm fs.FileMode) (*File, error) {
	resolved, err := resolve(name, flag)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	d, err := acquire(resolved, flag&^NoFollow, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &File{name: resolved, d: d}, nil
}

// Name returns the absolute name of the file, without symbolic links, as it was at Open. Companion
// files (-journal, -wal) are named after it.
func (f *File) Name() string { return f.name }

// ReadAt reads len(p) bytes at off. As with any io.ReaderAt, fewer come with an error, io.EOF at
// the end.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if f.closed.Load() {
		return 0, f.fail("read", fs.ErrClosed)
	}
	n, err := f.d.file.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = f.fail("read", err)
	}
	return n, err
}

// WriteAt writes p at off, growing the file as needed.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if f.closed.Load() {
		return 0, f.fail("write", fs.ErrClosed)
	}
	n, err := f.d.file.WriteAt(p, off)
	return n, f.fail("write", err)
}

// Truncate makes the file size bytes long; bytes that it adds read as zeros.
func (f *File) Truncate(size int64) error {
	if f.closed.Load() {
		return f.fail("truncate", fs.ErrClosed)
	}
	return f.fail("truncate", f.d.file.Truncate(size))
}

// Size returns the length of the file in bytes. It allocates nothing.
func (f *File) Size() (int64, error) {
	if f.closed.Load() {
		return 0, f.fail("stat", fs.ErrClosed)
	}
	size, err := f.d.size()
	return size, f.fail("stat", err)
}

// Links returns how many names the file has, or 1 if the system does not tell.
func (f *File) Links() (uint64, error) {
	if f.closed.Load() {
		return 0, f.fail("stat", fs.ErrClosed)
	}
	n, err := f.d.links()
	return n, f.fail("stat", err)
}

// Moved reports whether the name no longer leads to this file: it was removed, renamed, or
// replaced. Companion files named after it would then belong to another database.
func (f *File) Moved() (bool, error) {
	if f.closed.Load() {
		return false, f.fail("stat", fs.ErrClosed)
	}
	here, err := f.d.isAt(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && !here, f.fail("stat", err)
}

// Close gives up all locks, then the descriptor (see the package comment). Mappings of the file
// stay valid. A second Close returns fs.ErrClosed.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return f.fail("close", fs.ErrClosed)
	}
	return f.fail("close", release(f.d))
}

// Discard closes f and removes the file if CreateTemp made it and it was not given a name of its
// own since. It does nothing to a File that is closed already, so that it can be deferred.
func (f *File) Discard() error {
	if f.closed.Load() {
		return nil
	}
	var removed error
	if f.temp {
		removed = f.fail("remove", os.Remove(f.name))
	}
	return cmp.Or(f.Close(), removed)
}

func (f *File) fail(op string, err error) error { return pathError(op, f.name, err) }

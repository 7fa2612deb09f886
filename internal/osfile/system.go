package osfile

import (
	"io/fs"
	"path/filepath"
)

// A System is where the files of a database live: the operating system, or the crashable file
// system of the tests.
type System interface {
	// Open opens a regular file as the function Open does.
	Open(name string, flag int, perm fs.FileMode) (Handle, error)
	// OpenSide opens the file next to a database named like the database with a suffix, as
	// File.OpenSide does.
	OpenSide(db Handle, suffix string, flag int) (Handle, error)
	// SideExists reports whether the database has the side file with this suffix, and its size, as
	// the function SideExists does.
	SideExists(db Handle, suffix string) (size int64, ok bool, err error)
	// Exists reports whether there is a file of that name, and its size.
	Exists(name string) (size int64, ok bool, err error)
	// Remove removes a file, never a directory. The removal is durable after SyncDir.
	Remove(name string) error
	// Rename gives a file another name, in place of the file that may have it, whose owner and
	// permissions it takes over. It happens as a whole, and is durable after SyncDir.
	Rename(from, to string) error
	// SyncDir makes durable which names there are in the directory of name. An error that matches
	// ErrNotOpened says that the directory could not be opened: no sync has failed then.
	SyncDir(name string) error
}

// A Handle is an open file of a System. File describes its methods.
type Handle interface {
	Name() string
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Size() (int64, error)
	Moved() (bool, error)
	Access() (Access, error)
	Lock(kind LockKind, off, n int64) error
	Unlock(off, n int64) error
	Locked(kind LockKind, off, n int64) (bool, error)
	Holder(kind LockKind, off, n int64) (pid int, err error)
	Map(n int64) (*Mapping, error)
	MapWords(off, n int64) (*Words, error)
	Close() error
}

// A Disk is a Handle that knows the disk of its file. File describes the methods.
type Disk interface {
	FreeSpace() (bytes int64, err error)
	Preallocate(off, n int64) error
	Punch(off, n int64) error
}

// OS is the operating system.
var OS System = system{}

type system struct{}

func (system) Open(name string, flag int, perm fs.FileMode) (Handle, error) {
	f, err := Open(name, flag, perm)
	if err != nil {
		return nil, err // not a Handle that holds a nil *File
	}
	return f, nil
}

func (system) Exists(name string) (int64, bool, error) { return Exists(name) }

func (system) Remove(name string) error { return pathError("remove", name, unlink(name)) }

func (system) SyncDir(name string) error { return syncDir(filepath.Dir(name)) }

// Package roottest checks that a file system behaves like os.Root: names and their files, errors,
// contents, metadata, and files that are open while another caller changes their directories.
//
// Run makes calls whose outcome is known:
//
//	func TestFS(t *testing.T) { roottest.Run(t, func(t *testing.T) roottest.FS { ... }) }
//
// A Mirror makes random calls on a file system and on an os.Root, and compares the results.
// Together makes random calls from goroutines. os.Root itself passes Run and a Mirror. All of them
// run on Unix.
//
// # Compared
//
// Errors by their operation, their names, and the errno or the sentinel that they match. Infos by
// name, mode, size, number of links, owner, and the time of the last change, unless that is now.
// Directories whatever their order. Contents to the last byte, and extended attributes user.* if
// both sides have them. The results of package io/fs on either side. And, if both have such,
// directories opened as roots of their own that are moved and removed meanwhile.
//
// # Not compared
//
// Permissions must not prevent any call, so the tests must run as root or with all files owned by
// their user. The tests say nothing about names between 256 and 800 bytes, as limits differ, about
// devices, about the sizes of directories, and about times of access except right after Chtimes.
package roottest

import (
	"io"
	"io/fs"
	"time"
)

// An FS is a file system under test.
type FS struct {
	Names
	// OpenFile opens a file as os.Root does. It must not return a File that holds a nil pointer.
	OpenFile func(name string, flag int, perm fs.FileMode) (File, error)
	// Owner returns the facts of a FileInfo that have no method there; nil if they are not to be
	// compared.
	Owner func(info fs.FileInfo) Owner
	// Xattrs are the extended attributes; nil if there are none.
	Xattrs Xattrs
	// View returns the file system as package io/fs sees it; nil if that is not to be compared.
	View func() fs.FS
	// At calls fn with the file system as it is at one moment; nil if there is no such view.
	At func(fn func(fs.FS) error) error
	// Sub opens a directory as a file system of its own, as os.Root.OpenRoot does; nil if that is
	// not to be compared. Close closes one.
	Sub   func(name string) (FS, error)
	Close func() error
	// Prefix is the start of the names of open files, also in their errors. Other paths do not have
	// it. It is the directory that an os.Root was opened by, and a slash.
	Prefix string
}

// AsFile returns the results of a method like os.Root.OpenFile as those of FS.OpenFile.
func AsFile[F File](f F, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// An Owner holds the facts about an inode that fs.FileInfo has no method for.
type Owner struct {
	Links    uint64
	UID, GID uint32
	Atime    time.Time
}

// Names are the methods of os.Root that do not open anything.
type Names interface {
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldname, newname string) error
	Link(oldname, newname string) error
	Symlink(oldname, newname string) error
	Readlink(name string) (string, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Lchown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	ReadFile(name string) ([]byte, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
}

// A File offers the methods of *os.File that any file system can have.
type File interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.ReaderFrom
	io.WriterTo
	io.StringWriter
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	ReadDir(n int) ([]fs.DirEntry, error)
	Readdir(n int) ([]fs.FileInfo, error)
	Readdirnames(n int) ([]string, error)
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Sync() error
}

// Xattrs are extended attributes of files and directories, which names lead to without following a
// symbolic link at their end.
type Xattrs interface {
	SetXattr(name, attr string, value []byte) error
	RemoveXattr(name, attr string) error
	Xattrs(name string) (map[string][]byte, error)
}

// Package aferofs gives a volume to programs that keep their files by github.com/spf13/afero.
//
//	vol, err := folio.Open("data.folio", &folio.Options{Create: true})
//	...
//	var files afero.Fs = aferofs.New(vol)
//
// Names begin at the root of the volume, with a slash or without; the separators of the system will
// do. An absolute target of a symbolic link leads to the root of the volume, too. Besides afero.Fs,
// an Fs is an afero.Symlinker. The methods keep the promises of package folio and return its
// errors, so that each call happens as a whole or not at all; errors name files by their path in
// the volume.
//
// Directories are not made on the way to a file, and there is no directory for temporary files:
// afero.TempFile with an empty dir needs one with the name that os.TempDir returns.
package aferofs

import (
	"io/fs"
	"time"

	"github.com/spf13/afero"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/internal/rooted"
)

// A Volume is a *folio.Volume, a *folio.Root, or a *folio.Tx. On a Tx, all changes through the Fs
// are one change, and the Fs must be used by one goroutine at a time.
type Volume interface {
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	Create(name string) (*folio.File, error)
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Open(name string) (*folio.File, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
	Readlink(name string) (string, error)
	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldname, newname string) error
	Stat(name string) (fs.FileInfo, error)
	Symlink(oldname, newname string) error
}

var (
	_ Volume = (*folio.Volume)(nil)
	_ Volume = (*folio.Root)(nil)
	_ Volume = (*folio.Tx)(nil)
)

// An Fs is a volume as afero sees it. It is as safe for concurrent use as the volume is.
type Fs struct{ vol Volume }

var (
	_ afero.Fs        = (*Fs)(nil)
	_ afero.Symlinker = (*Fs)(nil)
)

// New returns a volume as an afero.Fs. The caller must close the volume, after the last use
// of the Fs.
func New(vol Volume) *Fs { return &Fs{vol} }

// Name returns "folio".
func (f *Fs) Name() string { return "folio" }

// A file is a *folio.File that remembers the name it was opened by.
type file struct {
	*folio.File
	name string
}

func (f *file) Name() string { return f.name }

// open opens the file at a path by opener.
func (f *Fs) open(name string, opener func(path string) (*folio.File, error)) (afero.File, error) {
	var opened *folio.File
	err := rooted.Follow(f.vol, name, true, func(path string) (err error) {
		opened, err = opener(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &file{opened, name}, nil
}

// Open opens a file or a directory for reading.
func (f *Fs) Open(name string) (afero.File, error) { return f.open(name, f.vol.Open) }

// Create makes a file, or empties an existing one, and opens it for reading and writing.
func (f *Fs) Create(name string) (afero.File, error) { return f.open(name, f.vol.Create) }

// OpenFile opens a file with flags of package os.
func (f *Fs) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	return f.open(name, func(path string) (*folio.File, error) { return f.vol.OpenFile(path, flag, perm) })
}

// Mkdir makes a directory.
func (f *Fs) Mkdir(name string, perm fs.FileMode) error {
	return rooted.Follow(f.vol, name, false, func(path string) error { return f.vol.Mkdir(path, perm.Perm()) })
}

// MkdirAll makes a directory and its missing parents. It does nothing if the directory exists.
func (f *Fs) MkdirAll(name string, perm fs.FileMode) error {
	return rooted.Follow(f.vol, name, true, func(path string) error { return f.vol.MkdirAll(path, perm.Perm()) })
}

// Remove removes a file or an empty directory.
func (f *Fs) Remove(name string) error { return rooted.Follow(f.vol, name, false, f.vol.Remove) }

// RemoveAll removes a file, or a directory with all that is in it, as one change.
func (f *Fs) RemoveAll(name string) error { return rooted.Follow(f.vol, name, false, f.vol.RemoveAll) }

// Rename moves a file or a directory. A file with the new name is replaced.
func (f *Fs) Rename(oldname, newname string) error {
	return rooted.Follow(f.vol, oldname, false, func(from string) error {
		return rooted.Follow(f.vol, newname, false, func(to string) error { return f.vol.Rename(from, to) })
	})
}

// Stat describes a file. The Sys method of the result points to a folio.Node.
func (f *Fs) Stat(name string) (fs.FileInfo, error) { return f.stat(name, true, f.vol.Stat) }

// LstatIfPossible describes a file, and a symbolic link itself: it is always possible.
func (f *Fs) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := f.stat(name, false, f.vol.Lstat)
	return info, true, err
}

func (f *Fs) stat(name string, last bool, stat func(path string) (fs.FileInfo, error)) (info fs.FileInfo, err error) {
	err = rooted.Follow(f.vol, name, last, func(path string) (err error) {
		info, err = stat(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rooted.Named(info, name), nil
}

// Chmod sets permissions, and the setuid, setgid and sticky bits.
func (f *Fs) Chmod(name string, mode fs.FileMode) error {
	return rooted.Follow(f.vol, name, true, func(path string) error { return f.vol.Chmod(path, mode) })
}

// Chown sets owner and group; -1 leaves one as it is.
func (f *Fs) Chown(name string, uid, gid int) error {
	return rooted.Follow(f.vol, name, true, func(path string) error { return f.vol.Chown(path, uid, gid) })
}

// Chtimes sets the times of access and modification; a zero time leaves one as it is.
func (f *Fs) Chtimes(name string, atime, mtime time.Time) error {
	return rooted.Follow(f.vol, name, true, func(path string) error { return f.vol.Chtimes(path, atime, mtime) })
}

// SymlinkIfPossible makes newname a symbolic link to oldname, which may be anything.
func (f *Fs) SymlinkIfPossible(oldname, newname string) error {
	return rooted.Follow(f.vol, newname, false, func(path string) error { return f.vol.Symlink(oldname, path) })
}

// ReadlinkIfPossible returns the target of a symbolic link.
func (f *Fs) ReadlinkIfPossible(name string) (target string, err error) {
	err = rooted.Follow(f.vol, name, false, func(path string) (err error) {
		target, err = f.vol.Readlink(path)
		return err
	})
	return target, err
}

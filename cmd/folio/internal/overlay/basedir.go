package overlay

import (
	"errors"
	"io/fs"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// A baseDir is a directory of the system that is the base of an overlay: an os.Root, with the
// extended attributes user.* of its files and directories.
type baseDir struct{ *os.Root }

// A baseDirFS is a baseDir as a file system.
type baseDirFS struct {
	rootFS
	dir baseDir
}

// A rootFS is what os.Root.FS returns.
type rootFS interface {
	fs.ReadDirFS
	fs.StatFS
	fs.ReadLinkFS
}

func (d baseDir) fs() fs.FS { return baseDirFS{d.FS().(rootFS), d} }

// Xattrs returns the extended attributes of a file.
func (f baseDirFS) Xattrs(name string) (map[string][]byte, error) { return f.dir.Xattrs(name) }

// with calls fn with a file, unless it is one of a type that has no such attributes.
func (d baseDir) with(name string, fn func(f *os.File) error) error {
	info, err := d.Lstat(name)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return err
	}
	f, err := d.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(fn(f), f.Close())
}

// Xattrs returns the extended attributes of a file that a volume takes from disk. Those of a file
// that cannot be opened are not known: it can be seen nevertheless.
func (d baseDir) Xattrs(name string) (attrs map[string][]byte, err error) {
	err = d.with(name, func(f *os.File) error {
		attrs, err = disk.Xattrs(f)
		return err
	})
	if errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return attrs, err
}

// SetXattr sets an extended attribute, if a volume gives it back to a disk.
func (d baseDir) SetXattr(name, attr string, value []byte) error {
	if !tree.KeepsXattr(attr) {
		return nil
	}
	return d.with(name, func(f *os.File) error { return disk.SetXattr(f, attr, value) })
}

// RemoveXattr removes an extended attribute.
func (d baseDir) RemoveXattr(name, attr string) error {
	return d.with(name, func(f *os.File) error { return disk.RemoveXattr(f, attr) })
}

//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func (f *File) rename(name string, rename func(from, to string) error) error {
	if err := rename(f.name, name); err != nil {
		return err
	}
	f.name, f.temp = name, false
	return nil
}

// syncName makes the content of f durable and, on ext4, XFS and btrfs, the name that it was given
// last.
func (f *File) syncName() error { return f.d.file.Sync() }

// syncDir makes the names in dir durable. The error matches ErrNotOpened if dir cannot be opened.
func syncDir(dir string) error {
	d, err := openDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.sync()
}

// A directory is open to be synced.
type directory struct{ *os.File }

// openDir opens a directory to be synced. Its error matches ErrNotOpened.
func openDir(dir string) (directory, error) {
	d, err := os.Open(dir)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return directory{}, &fs.PathError{Op: "open", Path: dir, Err: notOpenedError{err}}
	}
	return directory{d}, nil
}

// sync makes the names in the directory durable. File systems that cannot sync a directory are
// taken to need no sync.
func (d directory) sync() error {
	err := d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// unlink removes a name unless it is a directory.
func unlink(name string) error {
	for {
		err := unix.Unlink(name)
		switch err {
		case nil:
			return nil
		case unix.EINTR:
		case unix.EISDIR, unix.EPERM:
			if info, statErr := os.Lstat(name); statErr == nil && info.IsDir() {
				return kindError(info.Mode())
			}
			return err
		default:
			return err
		}
	}
}

// ReplacesOpen says that a file can take the name of one that is open.
const ReplacesOpen = true

func renameOver(from, to string) error { return os.Rename(from, to) }

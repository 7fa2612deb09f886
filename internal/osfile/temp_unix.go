//go:build unix

package osfile

import (
	"errors"
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

// syncDir makes the names in dir durable. File systems that cannot sync a directory are taken to
// need none.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// unlink removes a name that is not that of a directory.
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

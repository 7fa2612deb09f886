//go:build !unix && !windows

package osfile

import (
	"cmp"
	"io/fs"
	"os"
)

// A description is an open file with its own locks. Closing it does not affect the locks of other
// code: there is no registry here.
type description struct {
	file *os.File
	fd   uintptr
}

func acquire(name string, flag int, perm fs.FileMode) (*description, error) {
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, kindError(info.Mode())
	}
	file, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &description{file: file, fd: file.Fd()}, nil
}

// release ends the use of d.
func release(d *description) error {
	return cmp.Or(d.unlockAll(), d.file.Close())
}

func (d *description) size() (int64, error) {
	info, err := d.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d *description) links() (uint64, error) { return 1, nil }

// isAt reports whether a name, links not followed, leads to the file.
func (d *description) isAt(name string) (bool, error) {
	ours, err := d.file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(ours, named), err
}

func (d *description) named() bool { return true }

package osfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
)

func (system) Rename(from, to string) error {
	if err := adoptFile(from, to); err != nil {
		return pathError("rename", to, err)
	}
	return pathError("rename", to, renameOver(from, to))
}

// adoptFile lets a file have the owner and the permissions of the regular file that it is to
// replace, if there is one.
func adoptFile(from, to string) error {
	a, err := replacedAccess(to)
	if err != nil || a == nil {
		return err
	}
	d, err := acquire(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return cmp.Or(explainOwner(d.adoptWhole(*a), *a), release(d))
}

// replacedAccess returns the access of the regular file that is to be replaced; nil if there is
// none.
func replacedAccess(name string) (*Access, error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, kindError(info.Mode())
	}
	a, err := accessOf(name)
	return &a, err
}

// Named reports whether the file still has a name, under which it can be opened. It returns true if
// the system cannot tell.
func (f *File) Named() bool { return f.closed.Load() || f.d.named() }

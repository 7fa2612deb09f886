//go:build !unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
)

func (d *description) access() (Access, error) {
	info, err := d.file.Stat()
	if err != nil {
		return Access{}, err
	}
	return Access{Perm: info.Mode().Perm()}, nil
}

// accessOf returns the owner and the permissions of the file of this name, links not followed.
func accessOf(name string) (Access, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Access{}, err
	}
	return Access{Perm: info.Mode().Perm()}, nil
}

func (a Access) first() fs.FileMode { return a.Perm }

// checkSide reports whether d is still the file of this name.
func (d *description) checkSide(name string, _ Access) (here bool, err error) {
	here, err = d.isAt(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return here, err
}

// becomeSide has nothing to do: a file belongs to the user that its directory says.
func (d *description) becomeSide(Access) {}

func (d *description) adopt(a Access) error { return d.file.Chmod(a.Perm) }

func (d *description) adoptWhole(a Access) error { return d.file.Chmod(a.Perm) }

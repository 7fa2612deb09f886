//go:build unix

package osfile

import (
	"errors"
	"os"
	"syscall"
)

func (f *File) rename(name string, rename func(from, to string) error) error {
	if err := rename(f.name, name); err != nil {
		return err
	}
	f.name, f.temp = name, false
	return nil
}

// syncDir makes the names in dir durable. File systems that cannot sync a directory are taken to need none.
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

//go:build !linux && !darwin

package disk

import "os"

// setTimes sets the times of a file in the directory. Those of a symbolic link stay.
func (d *outDir) setTimes(name string, attr *Attr) error {
	if attr.Mtime.IsZero() && attr.Atime.IsZero() {
		return nil
	}
	info, err := d.root.Lstat(name)
	if err != nil || info.Mode()&os.ModeSymlink != 0 {
		return err
	}
	return d.root.Chtimes(name, attr.Atime, attr.Mtime)
}

// mknod makes nothing here.
func (d *outDir) mknod(string, *Attr) (made bool, err error) { return false, nil }

// SetXattr does nothing: extended attributes are not written on these systems.
func SetXattr(*os.File, string, []byte) error { return nil }

// RemoveXattr does nothing, either.
func RemoveXattr(*os.File, string) error { return nil }

//go:build !linux && !darwin

package disk

import (
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// setTimes sets the times of a file in the directory. The times of a symbolic link stay.
func (d *outDir) setTimes(name string, attr *tree.Entry) error {
	if attr.ModTime.IsZero() && attr.AccessTime.IsZero() {
		return nil
	}
	info, err := d.root.Lstat(name)
	if err != nil || info.Mode()&os.ModeSymlink != 0 {
		return err
	}
	return d.root.Chtimes(name, attr.AccessTime, attr.ModTime)
}

// mknod makes nothing here.
func (d *outDir) mknod(string, *tree.Entry) (made bool, err error) { return false, nil }

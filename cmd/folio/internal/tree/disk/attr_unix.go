//go:build linux || darwin

package disk

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// setTimes sets the times of a file in the directory, not through a symbolic link.
func (d *outDir) setTimes(name string, attr *tree.Entry) error {
	if attr.ModTime.IsZero() && attr.AccessTime.IsZero() {
		return nil
	}
	atime, err := unix.TimeToTimespec(attr.AccessTime)
	if err != nil {
		return err
	}
	mtime, err := unix.TimeToTimespec(attr.ModTime)
	if err != nil {
		return err
	}
	times := []unix.Timespec{atime, mtime}
	return control(d.self, func(fd int) error { return unix.UtimesNanoAt(fd, name, times, unix.AT_SYMLINK_NOFOLLOW) })
}

// mknod makes a device or a fifo, if the system lets it.
func (d *outDir) mknod(name string, attr *tree.Entry) (made bool, err error) {
	var kind uint32
	switch attr.Mode.Type() {
	case fs.ModeNamedPipe:
		kind = unix.S_IFIFO
	case fs.ModeDevice:
		kind = unix.S_IFBLK
	case fs.ModeDevice | fs.ModeCharDevice:
		kind = unix.S_IFCHR
	default:
		return false, nil
	}
	err = control(d.self, func(fd int) error { return mknodat(fd, name, kind|0o600, attr.Rdev) })
	if errors.Is(err, unix.EPERM) {
		return false, nil
	}
	return err == nil, err
}

//go:build linux || darwin

package disk

import (
	"errors"
	"io/fs"
	"os"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"golang.org/x/sys/unix"
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
	return d.control(func(fd int) error { return unix.UtimesNanoAt(fd, name, times, unix.AT_SYMLINK_NOFOLLOW) })
}

// control calls fn with the descriptor of the directory.
func (d *outDir) control(fn func(fd int) error) error {
	conn, err := d.self.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = ignoreEINTR(func() error { return fn(int(fd)) }) })
	return errors.Join(err, failed)
}

func ignoreEINTR(fn func() error) error {
	for {
		if err := fn(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
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
	err = d.control(func(fd int) error { return mknodat(fd, name, kind|0o600, attr.Rdev) })
	if errors.Is(err, unix.EPERM) {
		return false, nil
	}
	return err == nil, err
}

// RemoveXattr removes an extended attribute of an open file.
func RemoveXattr(f *os.File, attr string) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) { err = unix.Fremovexattr(int(fd), attr) })
	return errors.Join(failed, err)
}

// SetXattr sets an extended attribute of an open file.
func SetXattr(f *os.File, attr string, value []byte) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) {
		err = ignoreEINTR(func() error { return unix.Fsetxattr(int(fd), attr, value, 0) })
	})
	return errors.Join(failed, err)
}

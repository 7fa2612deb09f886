//go:build unix

package osfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A fileID names an inode for as long as a descriptor of it is open; afterwards its number may be
// reused.
type fileID struct{ dev, ino uint64 }

// A description is an open file description. The kernel keeps locks by it.
type description struct {
	file *os.File
	fd   int
	id   fileID
	flag int // as given to open, without the flags that act only once

	locks lockState

	mixed bool // other code in the process was seen to hold the inode open; guarded by registry.mu
}

// openFlags are added to every open. O_NONBLOCK has no effect on a regular file; it keeps a pipe
// that was put in the file's place at the last moment from blocking us.
const openFlags = unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK

// firstFD is the lowest descriptor for a file: a stray print to standard output must not land in a
// database.
const firstFD = 3

// openDescription opens a resolved name, which must lead to a regular file.
func openDescription(name string, flag int, perm fs.FileMode) (*description, error) {
	if err := fillStandard(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, flag|openFlags, perm)
	for range 100 {
		if !errors.Is(err, unix.EAGAIN) {
			break
		}
		runtime.Gosched() // a process has a lease for a moment: Elsewhere
		file, err = os.OpenFile(name, flag|openFlags, perm)
	}
	if err != nil {
		return nil, err
	}
	if file, err = raise(file); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = kindError(info.Mode())
	}
	if err != nil {
		return nil, cmp.Or(err, file.Close())
	}
	return &description{file: file, fd: int(file.Fd()), id: idOf(info), flag: lasting(flag)}, nil
}

// lasting drops the flags that act at the moment of opening only.
func lasting(flag int) int { return flag &^ (os.O_CREATE | os.O_EXCL | os.O_TRUNC) }

func (d *description) size() (int64, error) {
	st, err := d.status()
	return st.size, err
}

func (d *description) links() (uint64, error) {
	st, err := d.status()
	return st.links, err
}

// named reports whether the file still has a name, under which it can be opened.
func (d *description) named() bool {
	st, err := d.status()
	return err != nil || st.links > 0
}

// isAt reports whether a name, links not followed, leads to the file.
func (d *description) isAt(name string) (bool, error) {
	st, err := statusOf(name)
	return st.id == d.id, err
}

// fillStandard puts /dev/null in place of standard descriptors that the program has closed, for
// good. Moving a descriptor up after the fact would mean to close one of the file's (see the
// package comment).
func fillStandard() error {
	for fd := range firstFD {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
			continue
		}
		null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return &fs.PathError{Op: "open", Path: "/dev/null", Err: err}
		}
		if null >= firstFD {
			return unix.Close(null) // another goroutine was faster
		}
	}
	return nil
}

// raise moves a file to a descriptor of firstFD or more. It is needed only when standard
// descriptors are closed while Open runs; the window is not worth more than this.
func raise(file *os.File) (*os.File, error) {
	if int(file.Fd()) >= firstFD {
		return file, nil
	}
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, firstFD)
	if err != nil {
		return nil, cmp.Or(err, file.Close())
	}
	return os.NewFile(uintptr(fd), file.Name()), file.Close()
}

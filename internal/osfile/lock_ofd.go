//go:build (linux || darwin) && !posixlocks

package osfile

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Open file description locks (fcntl(2) on Linux, POSIX.1-2024): they belong to the description,
// conflict with POSIX locks even of this process, and die with the last descriptor of the
// description.

// SplitsLocks says that a part of a locked range can be unlocked, and that a file's own locks do
// not stand in its way.
const SplitsLocks = true

// SeesProcess says that locks of other code in this process are in the way of ours.
const SeesProcess = true

// LocksForbidWrites says that bytes that are locked Shared cannot be written.
const LocksForbidWrites = false

// A lockState is empty here: the system keeps the locks of a description. The field of it is for
// other systems.
type lockState struct{}

var _ = description{locks: lockState{}}

func (d *description) lock(kind LockKind, off, n int64) error {
	return d.setLock(lockType[kind], off, n)
}

func (d *description) unlock(off, n int64) error {
	return d.setLock(unix.F_UNLCK, off, n)
}

// unlockAll gives up everything: a length of 0 reaches to the end of any file.
func (d *description) unlockAll() error {
	err := d.setLock(unix.F_UNLCK, 0, 0)
	if errors.Is(err, ErrNoLocks) {
		return nil // so there were none
	}
	return err
}

func (d *description) locked(kind LockKind, off, n int64) (bool, error) {
	lk, err := d.getLock(lockType[kind], off, n)
	return lk.Type != unix.F_UNLCK, err
}

// holder asks for a lock in the way. The system knows the process of a POSIX lock; the process of
// an OFD lock must be looked for.
func (d *description) holder(kind LockKind, off, n int64) (pid int, err error) {
	lk, err := d.getLock(lockType[kind], off, n)
	switch {
	case err != nil || lk.Type == unix.F_UNLCK:
		return 0, err
	case lk.Pid > 0:
		return int(lk.Pid), nil
	}
	return ofdHolder(d, &lk), nil
}

// lockedHere reports whether the first lock on the file that is not ours is a POSIX lock of this
// process. An error counts as one.
func (d *description) lockedHere() bool {
	lk, err := d.getLock(unix.F_WRLCK, 0, 0)
	return err != nil || lk.Type != unix.F_UNLCK && int(lk.Pid) == os.Getpid()
}

func (d *description) setLock(typ int16, off, n int64) error {
	lk := unix.Flock_t{Type: typ, Whence: io.SeekStart, Start: off, Len: n}
	switch err := fcntl(d.fd, ofdSetLock, &lk); err {
	case unix.EAGAIN, unix.EACCES:
		return ErrLocked
	default:
		return explainLock(err)
	}
}

// getLock returns a lock that stands in the way of the described one, of Type F_UNLCK if there is
// none. Pid is its owner's for a POSIX lock, -1 for an OFD lock.
func (d *description) getLock(typ int16, off, n int64) (unix.Flock_t, error) {
	lk := unix.Flock_t{Type: typ, Whence: io.SeekStart, Start: off, Len: n}
	err := fcntl(d.fd, ofdGetLock, &lk)
	return lk, explainLock(err)
}

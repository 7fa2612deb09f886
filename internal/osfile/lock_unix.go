//go:build unix

package osfile

import "golang.org/x/sys/unix"

var lockType = [...]int16{Shared: unix.F_RDLCK, Exclusive: unix.F_WRLCK}

// explainLock lets the errors of a file system without locks match ErrNoLocks.
func explainLock(err error) error {
	switch err {
	case unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS:
		return noLocksError{err}
	}
	return err
}

func fcntl(fd, cmd int, lk *unix.Flock_t) error {
	for {
		err := unix.FcntlFlock(uintptr(fd), cmd, lk)
		if err != unix.EINTR {
			return err
		}
	}
}

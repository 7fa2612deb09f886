package osfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// LockFileEx: locks belong to the handle, ranges must be unlocked as they were locked, and a
// handle's own lock stands in its own way.

// SplitsLocks says that a part of a locked range can be unlocked, and that a file's own locks do
// not stand in its way.
const SplitsLocks = false

func (d *description) lock(kind LockKind, off, n int64) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if kind == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(d.fd), flags, 0, uint32(n), uint32(n>>32), overlapped(off))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

func (d *description) unlock(off, n int64) error {
	err := windows.UnlockFileEx(windows.Handle(d.fd), 0, uint32(n), uint32(n>>32), overlapped(off))
	if errors.Is(err, windows.ERROR_NOT_LOCKED) {
		return nil
	}
	return err
}

// unlockAll has nothing to do: closing the handle unlocks, and a child inherits no handle.
func (d *description) unlockAll() error { return nil }

// locked must try, since Windows cannot be asked.
func (d *description) locked(kind LockKind, off, n int64) (bool, error) {
	err := d.lock(kind, off, n)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, d.unlock(off, n)
}

func overlapped(off int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(off), OffsetHigh: uint32(off >> 32)}
}

// holder: this system does not tell.
func (d *description) holder(LockKind, int64, int64) (int, error) { return 0, nil }

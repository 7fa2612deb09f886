//go:build !linux && !darwin && !windows

package osfile

import "errors"

// This system's locks belong to the process, and a close by anyone would drop them: none are
// better.

// SplitsLocks says that a part of a locked range can be unlocked, and that a file's own locks do
// not stand in its way.
const SplitsLocks = false

func (d *description) lock(LockKind, int64, int64) error { return errors.ErrUnsupported }

func (d *description) unlock(int64, int64) error { return errors.ErrUnsupported }

func (d *description) unlockAll() error { return nil }

func (d *description) locked(LockKind, int64, int64) (bool, error) {
	return false, errors.ErrUnsupported
}

func (d *description) lockedHere() bool { return false }

// holder: this system does not tell.
func (d *description) holder(LockKind, int64, int64) (int, error) { return 0, nil }

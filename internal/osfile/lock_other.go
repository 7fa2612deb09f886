//go:build !unix && !windows

package osfile

import "errors"

// This system has no locks of byte ranges. Only a database that nothing changes can be opened
// (Options.Immutable), and one in memory.

// SplitsLocks says that a part of a locked range can be unlocked, and that a file's own locks do
// not stand in its way.
const SplitsLocks = false

// LocksForbidWrites says that bytes that are locked Shared cannot be written.
const LocksForbidWrites = false

func (d *description) lock(LockKind, int64, int64) error { return errors.ErrUnsupported }

func (d *description) unlock(int64, int64) error { return errors.ErrUnsupported }

func (d *description) unlockAll() error { return nil }

func (d *description) locked(LockKind, int64, int64) (bool, error) {
	return false, errors.ErrUnsupported
}

// holder: this system does not tell.
func (d *description) holder(LockKind, int64, int64) (int, error) { return 0, nil }

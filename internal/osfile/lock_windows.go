package osfile

import (
	"cmp"
	"errors"
	"sync"

	"golang.org/x/sys/windows"
)

// LockFileEx: locks belong to the handle, a range must be unlocked as it was locked, a handle's own
// lock stands in its way, and a lock cannot be converted. So a description keeps a list of its
// locks, and converts one by unlocking it, as SQLite does (winLock in os_win.c). In between another
// connection can take the bytes. Only PENDING, which such a connection needs, too, keeps it from
// that: who converts SHARED must hold it.
//
// Locks are mandatory here: a byte that is locked cannot be read or written by others, and one that
// is locked Shared can be written by nobody. Maps do not care.

// SplitsLocks says that a part of a locked range can be unlocked, and that a file's own locks do
// not stand in its way.
const SplitsLocks = false

// LocksForbidWrites says that bytes that are locked Shared cannot be written, except through a map.
const LocksForbidWrites = true

// ownLocks are the locks of one description.
type ownLocks struct {
	mu    sync.Mutex // guards the fields below, and taking and dropping locks
	list  []ownLock
	place windows.Overlapped // of the call in progress
}

type ownLock struct {
	kind   LockKind
	off, n int64
}

func (l *ownLock) end() int64 { return l.off + l.n }

// find returns the index of the lock on a range, or -1 if no lock is on any of its bytes. A lock on
// other bytes, too, is an error.
func (l *ownLocks) find(off, n int64) (int, error) {
	for i := range l.list {
		switch one := &l.list[i]; {
		case one.off == off && one.n == n:
			return i, nil
		case one.off < off+n && off < one.end():
			return 0, errors.ErrUnsupported
		}
	}
	return -1, nil
}

// lock takes a lock or converts it. A conversion that fails takes the lock back that was there; if
// that fails, the error does not match ErrLocked, and the lock is lost.
func (d *description) lock(kind LockKind, off, n int64) error {
	l := &d.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.find(off, n)
	if err != nil {
		return err
	}
	if i < 0 {
		if err := d.take(kind, off, n); err != nil {
			return err
		}
		l.list = append(l.list, ownLock{kind, off, n})
		return nil
	}
	if l.list[i].kind == kind {
		return nil
	}
	return d.convert(i, kind)
}

// convert changes the kind of the lock at index i. locks.mu is held.
func (d *description) convert(i int, kind LockKind) error {
	l := &d.locks
	one := l.list[i]
	if err := d.drop(one.off, one.n); err != nil {
		return err
	}
	err := d.take(kind, one.off, one.n)
	if err == nil {
		l.list[i].kind = kind
		return nil
	}
	if d.take(one.kind, one.off, one.n) != nil {
		l.list = append(l.list[:i], l.list[i+1:]...)
		return errLockLost
	}
	return err
}

// errLockLost says that another program has taken the bytes of a lock while it was converted. It
// should never happen: SQLite says the same at this place.
var errLockLost = errors.New("a lock was lost while it was converted")

// unlock drops the locks that are in a range, all of them even after an error.
func (d *description) unlock(off, n int64) error {
	l := &d.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	var first error
	kept := l.list[:0]
	for _, one := range l.list {
		switch {
		case one.off >= off && one.end() <= off+n:
			first = cmp.Or(first, d.drop(one.off, one.n))
		case one.off < off+n && off < one.end():
			first = cmp.Or(first, errors.ErrUnsupported)
			kept = append(kept, one)
		default:
			kept = append(kept, one)
		}
	}
	l.list = kept
	return first
}

func (d *description) unlockAll() error { return d.unlock(0, 1<<63-1) }

// locked must try, since the system cannot be asked. An own lock is converted for a moment.
func (d *description) locked(kind LockKind, off, n int64) (bool, error) {
	l := &d.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.find(off, n)
	switch {
	case err != nil:
		return false, err
	case i >= 0 && (kind == Shared || l.list[i].kind == Exclusive):
		return false, nil
	case i >= 0:
		if err = d.convert(i, kind); err == nil {
			err = d.convert(i, Shared)
		}
	default:
		if err = d.take(kind, off, n); err == nil {
			err = d.drop(off, n)
		}
	}
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

// take calls LockFileEx. locks.mu is held.
func (d *description) take(kind LockKind, off, n int64) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if kind == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	d.locks.at(off)
	switch err := windows.LockFileEx(windows.Handle(d.fd), flags, 0, uint32(n), uint32(n>>32), &d.locks.place); err {
	case windows.ERROR_LOCK_VIOLATION, windows.ERROR_IO_PENDING:
		return ErrLocked
	case windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED:
		return noLocksError{err}
	default:
		return err
	}
}

// drop calls UnlockFileEx. locks.mu is held.
func (d *description) drop(off, n int64) error {
	d.locks.at(off)
	err := windows.UnlockFileEx(windows.Handle(d.fd), 0, uint32(n), uint32(n>>32), &d.locks.place)
	if err == windows.ERROR_NOT_LOCKED {
		return nil
	}
	return err
}

func (l *ownLocks) at(off int64) {
	l.place = windows.Overlapped{Offset: uint32(off), OffsetHigh: uint32(off >> 32)}
}

// holder: this system does not tell.
func (d *description) holder(LockKind, int64, int64) (int, error) { return 0, nil }

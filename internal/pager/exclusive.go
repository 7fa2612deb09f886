package pager

import (
	"context"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// With Options.Exclusive a pager holds EXCLUSIVE from Open to Close, and RESERVED and PENDING with
// it: another connection gets no SHARED. The functions of lock.go have nothing to do then, and the
// wal-index need not be shared.

// lockOut takes EXCLUSIVE for good.
func (l *fileLocks) lockOut(ctx context.Context) error {
	if l.options.ReadOnly {
		return l.PathError("open", dberr.ErrReadOnly)
	}
	if err := l.retry(ctx, l.tryLockOut); err != nil {
		return l.PathError("open", err)
	}
	l.sole = true
	return nil
}

// tryLockOut takes EXCLUSIVE, or nothing.
func (l *fileLocks) tryLockOut() error {
	if err := l.lockShared(); err != nil {
		return err
	}
	err := l.lockReserved()
	if err == nil {
		err = l.lockExclusive()
	}
	if err == nil {
		err = l.checkIndexUnused()
	}
	if err != nil {
		return dberr.Join(err, l.toShared(), l.unlockShared())
	}
	return nil
}

// checkIndexUnused gives ErrLocked if a connection has the wal-index of the database open: it has
// lost its lock on the file, but still uses it.
func (l *fileLocks) checkIndexUnused() error {
	_, there, err := l.options.System.SideExists(l.file, "-shm")
	if err != nil || !there {
		return err
	}
	f, err := l.options.System.OpenSide(l.file, "-shm", osfile.ReadOnly)
	if err != nil {
		return dberr.IgnoreMissing(err)
	}
	locked, err := f.Locked(osfile.Exclusive, format.WALOpenLock, 1)
	if err == nil && locked {
		err = errInUse
	}
	return dberr.Join(err, f.Close())
}

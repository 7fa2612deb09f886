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
func (p *Pager) lockOut(ctx context.Context) error {
	if p.options.ReadOnly {
		return p.PathError("open", dberr.ErrReadOnly)
	}
	if err := p.retry(ctx, p.tryLockOut); err != nil {
		return p.PathError("open", err)
	}
	p.sole = true
	return nil
}

// tryLockOut takes EXCLUSIVE, or nothing.
func (p *Pager) tryLockOut() error {
	if err := p.locks.lockShared(); err != nil {
		return err
	}
	err := p.locks.lockReserved()
	if err == nil {
		err = p.locks.lockExclusive()
	}
	if err == nil {
		err = p.checkIndexUnused()
	}
	if err != nil {
		return dberr.Join(err, p.locks.toShared(), p.locks.unlockShared())
	}
	return nil
}

// checkIndexUnused gives ErrLocked if a connection has the wal-index of the database open: it has
// lost its lock on the file, but still uses it.
func (p *Pager) checkIndexUnused() error {
	_, there, err := p.options.System.SideExists(p.file, "-shm")
	if err != nil || !there {
		return err
	}
	f, err := p.options.System.OpenSide(p.file, "-shm", osfile.ReadOnly)
	if err != nil {
		return dberr.IgnoreMissing(err)
	}
	locked, err := f.Locked(osfile.Exclusive, format.WALOpenLock, 1)
	if err == nil && locked {
		err = errInUse
	}
	return dberr.Join(err, f.Close())
}

// lockNext keeps everybody out of the file that is to take the place of the database, for a pager
// that is sole. For other pagers the handle is nil.
func (r *replacer) lockNext() (osfile.Handle, error) {
	if !r.pager.sole {
		return nil, nil
	}
	next, err := r.pager.options.System.OpenSide(r.pager.file, r.draft, osfile.ReadWrite)
	if err != nil {
		return nil, err
	}
	err = next.Lock(osfile.Exclusive, format.PendingByte, 1)
	if err == nil {
		err = next.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize)
	}
	if err != nil {
		return nil, dberr.Join(err, next.Close())
	}
	return next, nil
}

// takeOver takes the locks of next, which is the same file, for db.file. Nobody gets SHARED in
// between: PENDING is not free before the range is locked again.
func (r *replacer) takeOver(next osfile.Handle) error {
	if next == nil {
		return nil
	}
	err := next.Unlock(format.SharedByte, format.SharedSize)
	if err == nil {
		err = r.pager.file.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize)
	}
	if err = dberr.Join(err, next.Close()); err != nil {
		return err
	}
	return r.pager.retry(context.Background(), func() error { // another connection may be trying to get SHARED
		return r.pager.file.Lock(osfile.Exclusive, format.PendingByte, 2)
	})
}

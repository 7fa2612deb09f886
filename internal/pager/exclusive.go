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

// alone calls fn when the file is not in use: no other connection, no transaction of this pager, no
// log. EXCLUSIVE is held meanwhile. It is ErrBusy if other connections use the file for longer than
// BusyTimeout. The caller must be the writer, and is none any more once fn was called.
//
//	writer --[freeze, lockExclusive]--> alone with a log --[emptyLog]--> alone --[detach]--> fn
func (r *replacer) alone(ctx context.Context, fn func() error) error {
	if r.pager.writer.base.wal != nil {
		if err := r.pager.checkpoints.rebase(); err != nil { // the lock that the writer reads by may stand in the way of its own checkpoint
			return err
		}
	}
	if err := r.freeze(ctx); err != nil {
		return err
	}
	defer r.thaw()
	if err := r.pager.retryWriter(ctx, r.pager.locks.lockExclusive); err != nil {
		return dberr.Join(err, r.pager.locks.toShared())
	}
	if err := r.emptyLog(); err != nil {
		return dberr.Join(err, r.pager.locks.toShared())
	}
	file, err := r.pager.file, r.detach()
	if err == nil {
		err = fn()
	}
	if r.pager.file != file || r.pager.lost != nil { // the old file must not be used again
		return err
	}
	return dberr.Join(err, r.pager.locks.toShared(), r.pager.locks.unlockShared())
}

// freeze lets no transaction of this pager begin to read, and waits for those that do but for the
// writer itself.
func (r *replacer) freeze(ctx context.Context) error {
	r.pager.mu.Lock()
	r.pager.frozen = true
	r.pager.mu.Unlock()
	r.pager.tally.retire()
	err := r.pager.retryWriter(ctx, func() error {
		if !r.pager.tally.only(r.pager.writer.base.lease) {
			return errOurReaders
		}
		return nil
	})
	if err != nil {
		r.thaw()
	}
	return err
}

func (r *replacer) thaw() {
	r.pager.mu.Lock()
	defer r.pager.mu.Unlock()
	r.pager.frozen = false
}

// emptyLog copies back the log and removes it. The caller must hold EXCLUSIVE.
func (r *replacer) emptyLog() error {
	log := r.pager.writer.base.wal
	if log == nil {
		return nil
	}
	removed, err := r.pager.checkpoints.cleanUp(log)
	if err == nil && !removed {
		err = r.pager.busyError(errInUse)
	}
	return err
}

// detach gives up everything that this pager has of the file except EXCLUSIVE: the log, which is
// removed, and its place as a writer and a reader.
func (r *replacer) detach() error {
	r.pager.checkpoints.mu.Lock()
	defer r.pager.checkpoints.mu.Unlock()
	base, log := r.pager.writer.base, r.pager.writer.base.wal
	r.pager.mu.Lock()
	r.pager.readers.fileLease, r.pager.wal = nil, nil
	r.pager.mu.Unlock()
	r.pager.locks.reserved.Store(false)
	if log != nil {
		r.pager.commits.unlockWriter(base)
	}
	base.lease.Leave()
	<-base.lease.Ended // the goroutine that keeps the lease looks at the log
	r.pager.writer.base = nil
	if log == nil {
		return nil
	}
	return log.Close()
}

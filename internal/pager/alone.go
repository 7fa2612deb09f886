package pager

import (
	"context"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// lockNext keeps everybody out of the file that is to take the place of the database, for a pager
// that is sole. For other pagers the handle is nil.
func (r *replacer) lockNext() (osfile.Handle, error) {
	if !r.sole {
		return nil, nil
	}
	next, err := r.options.System.OpenSide(r.file, r.draft, osfile.ReadWrite)
	if err != nil {
		return nil, err
	}
	if err := lockExclusive(next); err != nil {
		return nil, dberr.Join(err, next.Close())
	}
	return next, nil
}

// takeOver takes the locks of next, which is the same file, for the handle of the pager. Nobody
// gets SHARED in between: PENDING is not free before the range is locked again.
func (r *replacer) takeOver(next osfile.Handle) error {
	if next == nil {
		return nil
	}
	err := next.Unlock(format.SharedByte, format.SharedSize)
	if err == nil {
		err = r.file.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize)
	}
	if err = dberr.Join(err, next.Close()); err != nil {
		return err
	}
	return r.retry(context.Background(), func() error { // another connection may be trying to get SHARED
		return r.file.Lock(osfile.Exclusive, format.PendingByte, 2)
	})
}

// alone calls fn when the file is not in use: no other connection, no transaction of this pager, no
// log. EXCLUSIVE is held meanwhile. It is ErrBusy if other connections use the file for longer than
// BusyTimeout. The caller must be the writer, and is none any more once fn was called.
//
//	writer --[freeze, lockExclusive]--> alone with a log --[emptyLog]--> alone --[detach]--> fn
func (r *replacer) alone(ctx context.Context, fn func() error) error {
	if r.commits.writer.base.wal != nil {
		if err := r.commits.rebase(); err != nil { // the lock that the writer reads by may stand in the way of its own checkpoint
			return err
		}
	}
	if err := r.freeze(ctx); err != nil {
		return err
	}
	defer r.thaw()
	if err := r.retryWriter(ctx, r.locks.lockExclusive); err != nil {
		return dberr.Join(err, r.locks.toShared())
	}
	if err := r.emptyLog(); err != nil {
		return dberr.Join(err, r.locks.toShared())
	}
	file, err := r.file, r.detach()
	if err == nil {
		err = fn()
	}
	if r.file != file || r.readers.lost != nil { // the old file must not be used again
		return err
	}
	return dberr.Join(err, r.locks.toShared(), r.locks.unlockShared())
}

// freeze lets no transaction of this pager begin to read, and waits for those that do but for the
// writer itself.
func (r *replacer) freeze(ctx context.Context) error {
	r.readers.mu.Lock()
	r.readers.frozen = true
	r.readers.mu.Unlock()
	r.tally.retire()
	err := r.retryWriter(ctx, func() error {
		if !r.tally.only(r.commits.writer.base.lease) {
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
	r.readers.mu.Lock()
	defer r.readers.mu.Unlock()
	r.readers.frozen = false
}

// emptyLog copies back the log and removes it. The caller must hold EXCLUSIVE.
func (r *replacer) emptyLog() error {
	log := r.commits.writer.base.wal
	if log == nil {
		return nil
	}
	removed, err := r.commits.checkpoints.cleanUp(log)
	if err == nil && !removed {
		err = r.busyError(errInUse)
	}
	return err
}

// detach gives up everything that this pager has of the file except EXCLUSIVE: the log, which is
// removed, and its place as a writer and a reader.
func (r *replacer) detach() error {
	r.commits.checkpoints.mu.Lock()
	defer r.commits.checkpoints.mu.Unlock()
	base, log := r.commits.writer.base, r.commits.writer.base.wal
	r.readers.mu.Lock()
	r.readers.lease, r.readers.wal = nil, nil
	r.readers.mu.Unlock()
	r.locks.reserved.Store(false)
	if log != nil {
		r.commits.unlockWriter(base)
	}
	base.lease.Leave()
	<-base.lease.Ended // the goroutine that keeps the lease looks at the log
	r.commits.writer.base = nil
	if log == nil {
		return nil
	}
	return log.Close()
}

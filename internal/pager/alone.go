package pager

import (
	"context"

	"github.com/foliofs/folio/internal/dberr"
)

// alone calls fn when the file is not in use: no other connection, no transaction of this pager, no
// log. EXCLUSIVE is held meanwhile. It is ErrBusy if others use the file for longer than
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

package pager

import (
	"cmp"
	"context"
	"errors"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// exclusively runs fn while no transaction runs or waits to be committed, with the lock of a
// writer. A fault ends it with ErrFault.
func (c *committer) exclusively(ctx context.Context, fn func() error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	w := c.writer
	if err := c.writer.acquire(ctx, w.commitLock); err != nil {
		return err
	}
	defer func() { w.commitLock <- struct{}{} }()
	if err := c.writer.acquire(ctx, w.writeLock); err != nil {
		return err
	}
	defer func() { w.writeLock <- struct{}{} }()
	if w.pages.Count > 0 {
		c.flush()
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	defer c.releaseIfIdle()
	return fn()
}

// checkpointAll copies the whole log, waiting for readers of older states, and goes on as mode
// says.
func (c *committer) checkpointAll(ctx context.Context, log *wal.Log, mode CheckpointMode) error {
	err := c.retryWriter(ctx, func() error {
		frames, copied, err := c.checkpoints.checkpoint(log)
		if err == nil && copied < frames {
			err = cmp.Or(c.rebase(), log.Index.BlockedByReaders()) // our own lock, of an older state, may stand in the way
		}
		return err
	})
	if err != nil || mode < CheckpointRestart {
		return err
	}
	return c.retryWriter(ctx, func() error {
		if err := c.rebase(); err != nil {
			return err
		}
		h, err := log.Header()
		if err != nil {
			return err
		}
		if h.MaxFrame != 0 {
			if ok, err := log.Restart(&h); err != nil || !ok {
				return cmp.Or(err, log.Index.BlockedByReaders())
			}
		}
		if mode == CheckpointTruncate {
			return log.File.Truncate(0)
		}
		return nil
	})
}

// rebase takes a new read lock for the writer: where everything is copied back, a lock that does
// not hold the log. The caller must hold the write lock, and no page waits.
func (c *committer) rebase() error {
	w := c.writer
	c.readers.retireLease()
	next, err := c.readers.republish()
	if err != nil {
		return err
	}
	w.base.lease.Leave()
	w.base = next
	return nil
}

// checkpointIfDue is called after each commit, with the number of frames in the log. The caller
// holds the write lock.
func (c *committer) checkpointIfDue(log *wal.Log, frames uint32) error {
	c.checkpoints.checkpointSoon(log, frames)
	c.checkpoints.writeBack(log, frames)
	if w := c.writer; w.pages.Count > 0 || w.tx != nil {
		return nil
	}
	if c.reserve.Lent() {
		return c.returnReserve(log, frames)
	}
	if crowded(log, frames) {
		return c.recycle(log, frames)
	}
	return nil
}

// crowded reports whether the log with so many frames must restart before any other transaction
// writes: it is too long, or little is left to copy that is worth it, and the first part of the log
// is in memory and on disk already.
func crowded(log *wal.Log, frames uint32) bool {
	if int64(frames)*int64(log.Frame) >= relieveBytes {
		return true
	}
	copied := frames // without an index, let the commit find out
	_ = dberr.Guard(func() error { copied = log.Index.Backfill(); return nil })
	return frames >= checkpointFrames && frames >= log.Wait && frames-min(frames, copied) <= lastFrames
}

// lastFrames is how many frames are copied while writers wait, rather than in the background.
const lastFrames = 256

// checkpointFull empties the log after a commit for which the disk had no space: the next commit
// finds the space of the log. The caller must hold the write lock.
func (c *committer) checkpointFull(base *Snapshot, err error) {
	if w := c.writer; base.wal == nil || w.tx != nil || !errors.Is(dberr.Explain(err), dberr.ErrFull) {
		return
	}
	c.reserve.SetFull()
	_ = dberr.Guard(func() error { return c.returnReserve(base.wal, base.words[4]) }) // the commit has failed as it is
}

// recycle copies everything back, so that the next commit restarts the log. The caller must hold
// the write lock, and no page waits.
func (c *committer) recycle(log *wal.Log, frames uint32) error {
	c.checkpoints.waits.Add(1)
	if err := c.rebase(); err != nil { // our own lock may stand in the way
		return err
	}
	all, copied, err := c.checkpoints.checkpoint(log)
	if err != nil || copied < all {
		log.Wait = frames + lastFrames // some transaction reads the log
		return dberr.IgnoreLocked(err)
	}
	log.Wait = 0
	return c.rebase()
}

// lendLog is lend for the writer of a log.
func (c *committer) lendLog(log *wal.Log, full error) bool {
	return osfile.Full(full) && c.failure() == nil && c.checkpoints.freeReserve(log)
}

// returnReserve takes the disk space back that the log was lent, or that it took before the disk
// became full: the log is copied and cut to nothing, if no reader needs it, and the database keeps
// a reserve again. The caller must hold the write lock, and no page waits.
func (c *committer) returnReserve(log *wal.Log, frames uint32) error {
	if err := c.recycle(log, frames); err != nil {
		return err
	}
	h, err := log.Header()
	if err != nil {
		return err
	}
	if h.MaxFrame != 0 && c.writer.base.lease.Slot == 0 {
		if ok, err := log.Restart(&h); err != nil || !ok {
			return err
		}
		if err := log.File.Truncate(0); err != nil {
			return err
		}
		log.Length = 0
		if err := c.rebase(); err != nil {
			return err
		}
		c.checkpoints.freeReserve(log) // the space for a commit that has failed
		c.reserve.Punch()
	}
	c.reserve.Refill()
	return nil
}

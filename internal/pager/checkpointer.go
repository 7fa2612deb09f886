package pager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A checkpointer keeps the log of a pager short. Whenever checkpointFrames have not been copied, a
// commit starts a checkpoint in the background; where that cannot keep up, commits wait for one
// from relieveBytes on, so that the log stays below 16 MiB however many write.
type checkpointer struct {
	pager   *Pager
	mu      sync.Mutex // held by the checkpoint of this process that is at work
	running atomic.Bool
	count   atomic.Uint64 // of checkpoints that copied something
	waits   atomic.Uint64 // of commits that waited for one
}

const (
	checkpointFrames = 1000     // as SQLite's wal_autocheckpoint
	relieveBytes     = 14 << 20 // of log
)

// Checkpoint copies the log into the database, as far as mode says. In rollback mode there is
// nothing to do. ErrBusy means that another connection stood in the way for longer than
// BusyTimeout.
func (p *Pager) Checkpoint(ctx context.Context, mode CheckpointMode) error {
	if mode < CheckpointPassive || mode > CheckpointTruncate {
		return p.PathError("checkpoint", fmt.Errorf("%w: mode %d", dberr.ErrUnsupported, mode))
	}
	return dberr.Explain(dberr.Guard(func() error { return p.checkpointNow(ctx, mode) }))
}

func (p *Pager) checkpointNow(ctx context.Context, mode CheckpointMode) error {
	ctx = p.withBudget(ctx)
	var rx Rx
	if err := p.Enter(ctx, &rx); err != nil {
		return err
	}
	log := rx.wal
	rx.End()
	switch {
	case log == nil:
		return nil
	case p.options.ReadOnly || log.Denied != nil:
		return p.PathError("checkpoint", dberr.ErrReadOnly)
	case mode == CheckpointPassive:
		if err := p.beBusy(); err != nil {
			return err
		}
		defer p.busy.Done()
		_, _, err := p.checkpoints.checkpoint(log)
		return dberr.IgnoreLocked(err)
	}
	return p.commits.exclusively(ctx, func() error { return p.checkpoints.checkpointAll(ctx, log, mode) })
}

// beBusy keeps Close from closing the files until the caller is done.
func (p *Pager) beBusy() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.PathError("checkpoint", dberr.ErrClosed)
	}
	p.busy.Add(1)
	return nil
}

// checkpoint copies the frames that can be copied now, after another checkpoint of this process.
// ErrLocked means that another process is at it.
func (c *checkpointer) checkpoint(log *wal.Log) (frames, copied uint32, err error) {
	if err := c.pager.failure(); err != nil {
		return 0, 0, err // the frames that it would copy may not be on disk (W5)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.has(log) {
		return 0, 0, osfile.ErrLocked
	}
	if err := log.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1); err != nil {
		return 0, 0, err
	}
	defer log.Index.Unlock(format.WALCheckpointLock, 1)
	start, before := c.pager.clock(), log.Index.Backfill()
	frames, copied, err = log.CopyBack(c.pager.file, c.pager.sync)
	if err != nil || copied > before {
		c.pager.trace(Event{Kind: EventCheckpoint, Start: start, Pages: int(copied) - int(before), Err: err})
	}
	if err == nil && copied > before {
		c.count.Add(1)
	}
	if errors.Is(err, wal.ErrReplaced) {
		err = c.pager.movedAway("checkpoint", c.pager.file)
	}
	return frames, copied, err
}

// has reports whether a log is still open.
func (c *checkpointer) has(log *wal.Log) bool {
	c.pager.mu.Lock()
	defer c.pager.mu.Unlock()
	return c.pager.wal == log
}

// exclusively runs fn while no transaction runs or waits to be committed, with the lock of a
// writer. A fault ends it with ErrFault.
func (c *committer) exclusively(ctx context.Context, fn func() error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	w := &c.pager.writer
	if err := c.pager.take(ctx, w.commitLock); err != nil {
		return err
	}
	defer func() { w.commitLock <- struct{}{} }()
	if err := c.pager.take(ctx, w.writeLock); err != nil {
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
func (c *checkpointer) checkpointAll(ctx context.Context, log *wal.Log, mode CheckpointMode) error {
	err := c.pager.retryWriter(ctx, func() error {
		frames, copied, err := c.checkpoint(log)
		if err == nil && copied < frames {
			err = cmp.Or(c.rebase(), log.Index.BlockedByReaders()) // our own lock, of an older state, may stand in the way
		}
		return err
	})
	if err != nil || mode < CheckpointRestart {
		return err
	}
	return c.pager.retryWriter(ctx, func() error {
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

// retireLease lets the current lease end with its readers: the next ones read the newest state.
func (c *checkpointer) retireLease() {
	if s := c.pager.snapshot.Load(); s != nil {
		s.lease.Retire()
	}
}

// rebase takes a new read lock for the writer: where everything is copied back, a lock that does
// not hold the log. The caller must hold the write lock, and no page waits.
func (c *checkpointer) rebase() error {
	w := &c.pager.writer
	c.retireLease()
	next, err := c.pager.commits.republish()
	if err != nil {
		return err
	}
	w.base.lease.Leave()
	w.base = next
	return nil
}

// checkpointIfDue is called after each commit, with the number of frames in the log. The caller
// holds the write lock.
func (c *checkpointer) checkpointIfDue(log *wal.Log, frames uint32) error {
	c.checkpointSoon(log, frames)
	c.writeBack(log, frames)
	if w := &c.pager.writer; w.pages.Count > 0 || w.tx != nil {
		return nil
	}
	if c.pager.room.lent.Load() {
		return c.pager.room.returnRoom(log, frames)
	}
	return c.waitForCheckpoint(log, frames)
}

// checkpointSoon starts a checkpoint in the background if there is enough to copy.
func (c *checkpointer) checkpointSoon(log *wal.Log, frames uint32) {
	if frames < log.Index.Backfill()+checkpointFrames || !c.running.CompareAndSwap(false, true) {
		return
	}
	c.pager.busy.Go(func() {
		defer c.running.Store(false)
		var err error
		defer osfile.Catch(osfile.Arm(), &err)
		_, _, _ = c.checkpoint(log) // the next commit tries again
	})
}

// writeBackFrames is how many frames are handed to the disk at once.
const writeBackFrames = 256

// writeBack is called after each commit: where commits are not synced, the disk gets frames early,
// so that a checkpoint does not wait for all of them.
func (c *checkpointer) writeBack(log *wal.Log, frames uint32) {
	file, ok := log.File.(interface{ StartWriteback(off, n int64) })
	if frames < log.Hinted {
		log.Hinted = 0
	}
	if !ok || c.pager.options.Durability != DurabilityNormal || frames < log.Hinted+writeBackFrames {
		return
	}
	from, to := format.FrameOffset(log.Hinted+1, log.PageSize), format.FrameOffset(frames+1, log.PageSize)
	log.Hinted = frames
	c.pager.busy.Go(func() { file.StartWriteback(from, to-from) })
}

// crowded reports whether the log with so many frames must restart before any other transaction
// writes: it is too long, or little is left to copy that is worth it, and the first part of the log
// lies in memory and on disk already.
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

// waitForCheckpoint makes room in a log that grew too long. The caller must hold the write lock,
// and no page waits.
func (c *checkpointer) waitForCheckpoint(log *wal.Log, frames uint32) error {
	if !crowded(log, frames) {
		return nil
	}
	return c.recycle(log, frames)
}

// checkpointFull does so after a commit for which the log found no room on the disk: the next one
// finds that of the log. The caller must hold the write lock.
func (c *checkpointer) checkpointFull(base *Snapshot, err error) {
	if w := &c.pager.writer; base.wal == nil || w.tx != nil || !errors.Is(dberr.Explain(err), dberr.ErrFull) {
		return
	}
	c.pager.room.full.Store(true)
	_ = dberr.Guard(func() error { return c.pager.room.returnRoom(base.wal, base.words[4]) }) // the commit has failed as it is
}

// recycle copies everything back, so that the next commit restarts the log. The caller must hold
// the write lock, and no page waits.
func (c *checkpointer) recycle(log *wal.Log, frames uint32) error {
	c.waits.Add(1)
	if err := c.rebase(); err != nil { // our own lock may stand in the way
		return err
	}
	all, copied, err := c.checkpoint(log)
	if err != nil || copied < all {
		log.Wait = frames + lastFrames // some transaction reads the log
		return dberr.IgnoreLocked(err)
	}
	log.Wait = 0
	return c.rebase()
}

// closeLog copies the log back and removes it, if no other connection holds the database open. It
// is ErrWALRemains if the database cannot be written, and ErrMoved if the file was replaced.
func (c *checkpointer) closeLog() error {
	if c.pager.wal.Denied != nil {
		return nil
	}
	if moved, overwritten := c.pager.replaced(); moved || overwritten {
		return c.dropLog(overwritten)
	}
	if c.pager.options.ReadOnly || c.pager.failed.Load() != nil {
		return nil
	}
	if !c.pager.sole && c.pager.file.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize) != nil {
		return nil
	}
	_, err := c.cleanUp(c.pager.wal)
	if failed, ok := errors.AsType[dberr.CopyError](err); ok && c.pager.failed.Load() == nil {
		err = &fs.PathError{Op: "close", Path: c.pager.path, Err: logLeftError{failed.Err}}
	}
	return err
}

// cleanUp copies the log back and removes it, and reports whether it did. The caller must hold
// EXCLUSIVE on the database.
func (c *checkpointer) cleanUp(log *wal.Log) (removed bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if alone, err := log.Index.Alone(); err != nil || !alone {
		return false, err // a connection has lost its lock on the database, but still uses it
	}
	if err := c.pager.inPlace(log.Files(c.pager.file)...); err != nil {
		return false, err
	}
	h, err := log.State()
	if err != nil {
		return false, dberr.IgnoreLocked(err)
	}
	if err := c.pager.whole(log, h.MaxFrame); err != nil {
		return false, err
	}
	frames, copied, err := c.checkpoint(log)
	if err != nil || copied < frames {
		return false, dberr.IgnoreLocked(err)
	}
	if err := log.Remove(); err != nil {
		return true, err
	}
	if osfile.ReplacesOpen { // otherwise the log is removed when it is closed, and still has frames
		c.pager.room.punchFree()
	}
	return true, nil
}

package pager

import (
	"context"
	"errors"
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
	*core
	readers *readers
	mu      sync.Mutex // held by the checkpoint of this process that is at work
	running atomic.Bool
	count   atomic.Uint64 // of checkpoints that copied something
	waits   atomic.Uint64 // of commits that waited for one
}

const (
	checkpointFrames = 1000     // as SQLite's wal_autocheckpoint
	relieveBytes     = 14 << 20 // of log
)

// checkpoint copies the frames that can be copied now, after another checkpoint of this process.
// ErrLocked means that another process is at it.
func (c *checkpointer) checkpoint(log *wal.Log) (frames, copied uint32, err error) {
	if err := c.failure(); err != nil {
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
	start, before := c.clock(), log.Index.Backfill()
	frames, copied, err = log.CopyBack(c.file, c.sync)
	if err != nil || copied > before {
		c.trace(Event{Kind: EventCheckpoint, Start: start, Pages: int(copied) - int(before), Err: err})
	}
	if err == nil && copied > before {
		c.count.Add(1)
	}
	if errors.Is(err, wal.ErrReplaced) {
		err = c.movedAway("checkpoint", c.file)
	}
	return frames, copied, err
}

// has reports whether a log is still open.
func (c *checkpointer) has(log *wal.Log) bool {
	c.readers.mu.Lock()
	defer c.readers.mu.Unlock()
	return c.readers.wal == log
}

// checkpointSoon starts a checkpoint in the background if there is enough to copy.
func (c *checkpointer) checkpointSoon(log *wal.Log, frames uint32) {
	if frames < log.Index.Backfill()+checkpointFrames || !c.running.CompareAndSwap(false, true) {
		return
	}
	c.readers.busy.Go(func() {
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
	if !ok || c.options.Durability != DurabilityNormal || frames < log.Hinted+writeBackFrames {
		return
	}
	from, to := format.FrameOffset(log.Hinted+1, log.PageSize), format.FrameOffset(frames+1, log.PageSize)
	log.Hinted = frames
	c.readers.busy.Go(func() { file.StartWriteback(from, to-from) })
}

// closeLog copies the log back and removes it, if no other connection holds the database open. It
// is ErrWALRemains if the database cannot be written, and ErrMoved if the file was replaced.
func (c *checkpointer) closeLog() error {
	if c.readers.wal.Denied != nil {
		return nil
	}
	if moved, overwritten := c.readers.isReplaced(); moved || overwritten {
		return c.dropLog(overwritten)
	}
	if c.options.ReadOnly || c.failed.Load() != nil {
		return nil
	}
	if !c.sole && c.file.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize) != nil {
		return nil
	}
	_, err := c.cleanUp(c.readers.wal)
	if failed, ok := errors.AsType[dberr.CopyError](err); ok && c.failed.Load() == nil {
		err = &fs.PathError{Op: "close", Path: c.path, Err: logLeftError{failed.Err}}
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
	if err := c.inPlace(log.Files(c.file)...); err != nil {
		return false, err
	}
	h, err := log.State()
	if err != nil {
		return false, dberr.IgnoreLocked(err)
	}
	if err := c.whole(log, h.MaxFrame); err != nil {
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
		c.reserve.Punch()
	}
	return true, nil
}

// freeReserve gives the disk the reserve, for the writer of a log.
func (c *checkpointer) freeReserve(log *wal.Log) (lent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.retry(context.Background(), func() error {
		if err := log.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1); err != nil {
			return err
		}
		defer log.Index.Unlock(format.WALCheckpointLock, 1)
		lent = c.reserve.Free()
		return nil
	})
	return lent
}

package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A checkpointer keeps the log of a DB short. Whenever checkpointFrames have not been copied, a commit starts a checkpoint in the background; where
// that cannot keep up, commits wait for one from relieveBytes on, so that the log stays below 16 MiB however many write.
type checkpointer struct {
	mu      sync.Mutex // held by the checkpoint of this process that is at work
	running atomic.Bool
	count   atomic.Uint64 // of checkpoints that copied something
	waits   atomic.Uint64 // of commits that waited for one
}

const (
	checkpointFrames = 1000     // as SQLite's wal_autocheckpoint
	relieveBytes     = 14 << 20 // of log
)

// Checkpoint copies the log into the database, as far as mode says. In rollback mode there is nothing to do. ErrBusy means that somebody
// stood in the way for longer than BusyTimeout.
func (db *DB) Checkpoint(ctx context.Context, mode CheckpointMode) error {
	return explain(guard(func() error { return db.checkpointNow(ctx, mode) }))
}

func (db *DB) checkpointNow(ctx context.Context, mode CheckpointMode) error {
	ctx = db.withBudget(ctx)
	rx, err := db.begin(ctx)
	if err != nil {
		return err
	}
	log := rx.wal
	rx.end()
	switch {
	case log == nil:
		return nil
	case db.options.ReadOnly || log.denied != nil:
		return db.pathError("checkpoint", ErrReadOnly)
	case mode == CheckpointPassive:
		if err := db.beBusy(); err != nil {
			return err
		}
		defer db.busy.Done()
		_, _, err := db.checkpoint(log)
		return ignoreLocked(err)
	}
	return db.exclusively(ctx, func() error { return db.checkpointAll(ctx, log, mode) })
}

// beBusy keeps Close from closing the files until the caller is done.
func (db *DB) beBusy() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return db.pathError("checkpoint", ErrClosed)
	}
	db.busy.Add(1)
	return nil
}

// checkpoint copies what can be copied now, after another checkpoint of this process. ErrLocked means that another process is
// at it.
func (db *DB) checkpoint(log *wal) (frames, copied uint32, err error) {
	if err := db.failure(); err != nil {
		return 0, 0, err // what it would copy may not be on disk (W5)
	}
	db.checkpoints.mu.Lock()
	defer db.checkpoints.mu.Unlock()
	if !db.has(log) {
		return 0, 0, osfile.ErrLocked
	}
	if err := log.index.lock(osfile.Exclusive, format.WALCheckpointLock, 1); err != nil {
		return 0, 0, err
	}
	defer log.index.unlock(format.WALCheckpointLock, 1)
	start, before := db.clock(), log.index.backfill()
	frames, copied, err = log.copyBack(db.file, db.sync)
	if err != nil || copied > before {
		db.trace(Event{Kind: EventCheckpoint, Start: start, Pages: int(copied) - int(before), Err: err})
	}
	if err == nil && copied > before {
		db.checkpoints.count.Add(1)
	}
	return frames, copied, err
}

// has reports whether a log is still open.
func (db *DB) has(log *wal) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.wal == log
}

// exclusively runs fn while no transaction runs or waits to be committed, with the lock of a writer. A fault ends it with ErrFault.
func (db *DB) exclusively(ctx context.Context, fn func() error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	w := &db.writer
	if err := take(ctx, w.press); err != nil {
		return err
	}
	defer func() { w.press <- struct{}{} }()
	if err := take(ctx, w.turn); err != nil {
		return err
	}
	defer func() { w.turn <- struct{}{} }()
	if w.pages.count > 0 {
		db.flush()
	}
	if err := db.prepare(ctx); err != nil {
		return err
	}
	defer db.disperse()
	return fn()
}

// checkpointAll copies the whole log, waiting for readers of older states, and goes on as mode says.
func (db *DB) checkpointAll(ctx context.Context, log *wal, mode CheckpointMode) error {
	err := db.retryWriter(ctx, func() error {
		frames, copied, err := db.checkpoint(log)
		if err == nil && copied < frames {
			err = cmp.Or(db.rebase(), log.index.readers()) // our own lock, of an older state, may stand in the way
		}
		return err
	})
	if err != nil || mode < CheckpointRestart {
		return err
	}
	return db.retryWriter(ctx, func() error {
		if err := db.rebase(); err != nil {
			return err
		}
		h, err := log.header()
		if err != nil {
			return err
		}
		if h.MaxFrame != 0 {
			if ok, err := log.restart(&h); err != nil || !ok {
				return cmp.Or(err, log.index.readers())
			}
		}
		if mode == CheckpointTruncate {
			return log.file.Truncate(0)
		}
		return nil
	})
}

// retireLease lets the current lease end with its readers: the next ones read the newest state.
func (db *DB) retireLease() {
	if s := db.snapshot.Load(); s != nil {
		s.lease.retire()
	}
}

// rebase takes a new read lock for the writer: where everything is copied back, one that does not hold the log. The caller holds
// the turn, and no page waits.
func (db *DB) rebase() error {
	w := &db.writer
	db.retireLease()
	next, err := db.republish()
	if err != nil {
		return err
	}
	w.base.lease.leave()
	w.base = next
	return nil
}

// tend is called after each commit, with the number of frames in the log. The caller holds the turn.
func (db *DB) tend(log *wal, frames uint32) error {
	db.checkpointSoon(log, frames)
	db.writeBack(log, frames)
	if w := &db.writer; w.pages.count > 0 || w.tx != nil {
		return nil
	}
	if db.room.lent.Load() {
		return db.returnRoom(log, frames)
	}
	return db.relieve(log, frames)
}

// checkpointSoon starts a checkpoint in the background if there is enough to copy.
func (db *DB) checkpointSoon(log *wal, frames uint32) {
	if frames < log.index.backfill()+checkpointFrames || !db.checkpoints.running.CompareAndSwap(false, true) {
		return
	}
	db.busy.Go(func() {
		defer db.checkpoints.running.Store(false)
		var err error
		defer osfile.Catch(osfile.Arm(), &err)
		_, _, _ = db.checkpoint(log) // whoever is next tries again
	})
}

// writeBackFrames is how many frames are handed to the disk at once.
const writeBackFrames = 256

// writeBack is called after each commit: where commits are not synced, the disk gets frames early, so that a checkpoint does not wait for all
// of them.
func (db *DB) writeBack(log *wal, frames uint32) {
	file, ok := log.file.(interface{ StartWriteback(off, n int64) })
	if frames < log.hinted {
		log.hinted = 0
	}
	if !ok || db.options.Durability != Normal || frames < log.hinted+writeBackFrames {
		return
	}
	from, to := format.FrameOffset(log.hinted+1, log.pageSize), format.FrameOffset(frames+1, log.pageSize)
	log.hinted = frames
	db.busy.Go(func() { file.StartWriteback(from, to-from) })
}

// crowded reports whether the log with so many frames is to begin anew before anybody else writes: it is too long, or little is left to copy of
// what is worth copying, and a log that begins anew lies in memory and on disk already.
func (w *wal) crowded(frames uint32) bool {
	if int64(frames)*int64(w.frame) >= relieveBytes {
		return true
	}
	copied := frames // without an index, let the commit find out
	_ = guard(func() error { copied = w.index.backfill(); return nil })
	return frames >= checkpointFrames && frames >= w.wait && frames-min(frames, copied) <= lastFrames
}

// lastFrames is how many frames are copied while writers wait, rather than in the background.
const lastFrames = 256

// relieve makes room in a log that grew too long. The caller holds the turn, and no page waits.
func (db *DB) relieve(log *wal, frames uint32) error {
	if !log.crowded(frames) {
		return nil
	}
	return db.recycle(log, frames)
}

// relieveFull does so after a commit for which the log found no room on the disk: the next one finds that of the log. The caller holds the turn.
func (db *DB) relieveFull(base *snapshot, err error) {
	if w := &db.writer; base.wal == nil || w.tx != nil || !errors.Is(explain(err), ErrFull) {
		return
	}
	db.room.full.Store(true)
	_ = guard(func() error { return db.returnRoom(base.wal, base.words[4]) }) // the commit has failed as it is
}

// recycle copies everything back, so that the next commit begins the log anew. The caller holds the turn, and no page waits.
func (db *DB) recycle(log *wal, frames uint32) error {
	db.checkpoints.waits.Add(1)
	if err := db.rebase(); err != nil { // our own lock may stand in the way
		return err
	}
	all, copied, err := db.checkpoint(log)
	if err != nil || copied < all {
		log.wait = frames + lastFrames // somebody reads what is in the log
		return ignoreLocked(err)
	}
	log.wait = 0
	return db.rebase()
}

// closeLog copies back what is in the log and removes it, if nobody else has the database open. It is ErrLogLeft if the database cannot be
// written.
func (db *DB) closeLog() error {
	if db.options.ReadOnly || db.wal.denied != nil || db.failed.Load() != nil {
		return nil
	}
	if !db.sole && db.file.Lock(osfile.Exclusive, sharedByte, sharedSize) != nil {
		return nil
	}
	_, err := db.cleanUp(db.wal)
	if failed, ok := errors.AsType[copyError](err); ok && db.failed.Load() == nil {
		err = &fs.PathError{Op: "close", Path: db.path, Err: logLeftError{failed.error}}
	}
	return err
}

// cleanUp copies the log back and removes it, and reports whether it did. The caller holds EXCLUSIVE on the database.
func (db *DB) cleanUp(log *wal) (removed bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if alone, err := log.index.alone(); err != nil || !alone {
		return false, err // somebody lost his lock on the database, but is there
	}
	if err := db.inPlace(log.files(db.file)...); err != nil {
		return false, err
	}
	h, err := log.state()
	if err != nil {
		return false, ignoreLocked(err)
	}
	if err := db.whole(log, h.MaxFrame); err != nil {
		return false, err
	}
	frames, copied, err := db.checkpoint(log)
	if err != nil || copied < frames {
		return false, ignoreLocked(err)
	}
	if err := log.remove(); err != nil {
		return true, err
	}
	db.punchFree()
	return true, nil
}

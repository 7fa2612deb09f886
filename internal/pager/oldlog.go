package pager

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A file that is replaced while it is open leaves its log beside the new file. No file needs that
// log any more, and the new one cannot be opened as long as it is there (ErrMispaired). So the last
// connection to the old file removes the log when it closes, if all of this is certain:
//
//	Q1  Nobody else has the log open, or the file: EXCLUSIVE is held, and the lock of those who use
//	    the index is free.
//	Q2  The names of the log and of its index still lead to the files that this pager has open.
//	Q3  Another file has the name of the database, and nobody has that one open: EXCLUSIVE on it is
//	    held, too. Or the file itself has become another database, or is empty.
//	Q4  The old file has no name any more. Or everything is copied into it before, and nobody has
//	    written to it but checkpoints.

// Replaced reports whether the database that was opened is not at its name any more: another file
// has the name, or another database was written over the file.
func (p *Pager) Replaced() bool {
	if p.beBusy() != nil {
		return false // it is closed
	}
	defer p.busy.Done()
	moved, overwritten := p.replaced()
	return moved || overwritten
}

func (p *Pager) replaced() (moved, overwritten bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	moved, err := p.file.Moved()
	if err != nil || moved || p.wal == nil || !p.wal.Known() {
		return moved, false
	}
	err = dberr.Guard(func() error {
		h, ok, err := p.wal.Index.Load()
		if err != nil || !ok {
			return err
		}
		return p.wal.Home(&h)
	})
	return false, errors.Is(err, wal.ErrReplaced)
}

// How long Close waits for other connections that close the old file, too, or try to open the new
// one. Who has the file open for reading cannot take the lock that tells others to get out of the
// way, and gets out of theirs.
const (
	dropPatience       = DefaultBusyTimeout
	dropPatienceReader = 20 * time.Millisecond
)

// dropLog removes the log of a file that was replaced, if that is safe (Q1 to Q4). Close returns
// ErrMoved whatever becomes of the log, unless the file was open for reading. Of those who close
// the file at one time the one that gets PENDING removes the log.
func (c *checkpointer) dropLog(overwritten bool) error {
	moved := c.pager.movedAway("close", c.pager.file)
	lock, patience := c.pager.locks.lockExclusive, dropPatience
	switch {
	case c.pager.options.ReadOnly:
		moved, lock, patience = nil, c.checkUnshared, dropPatienceReader
	case !c.pager.sole && c.pager.file.Lock(osfile.Exclusive, format.PendingByte, 1) != nil:
		return moved
	}
	_ = c.pager.retryWith(context.Background(), &waitBudget{timeout: patience}, func() error {
		if err := lock(); err != nil {
			return err
		}
		return dberr.Guard(func() error { return c.tryDrop(overwritten) })
	})
	return moved
}

// checkUnshared gives ErrLocked if another connection has the old file open. Nobody can open it any
// more, if it has no name: that is as good as EXCLUSIVE.
func (c *checkpointer) checkUnshared() error {
	locked, err := c.pager.file.Locked(osfile.Exclusive, format.SharedByte, format.SharedSize)
	if err == nil && locked {
		err = errInUse
	}
	return err
}

// tryDrop is dropLog for the holder of EXCLUSIVE on the old file. ErrLocked means to try again.
func (c *checkpointer) tryDrop(overwritten bool) error {
	log := c.pager.wal
	if alone, err := log.Index.Alone(); err != nil || !alone {
		return cmp.Or(err, error(errInUse))
	}
	if err := c.pager.inPlace(log.Files(c.pager.file)[1:]...); err != nil {
		return err
	}
	if !overwritten {
		return c.dropMoved(log)
	}
	if c.pager.options.ReadOnly { // others may open the file
		return nil
	}
	return c.dropOverwritten(log)
}

// dropOverwritten removes the log if what was written over the file is a database, or nothing. Of
// any other file it is not certain that it was meant to replace the old one.
func (c *checkpointer) dropOverwritten(log *wal.Log) error {
	var b [format.HeaderSize]byte
	if n, err := c.pager.file.ReadAt(b[:], 0); n == 0 && dberr.IgnoreEOF(err) == nil {
		return log.Remove()
	}
	if h, what := format.ParseHeader(b[:]); what != "" || h.ChangeCounter != h.VersionValidFor {
		return nil
	}
	return log.Remove()
}

// dropMoved removes the log if another file has the name of the database.
func (c *checkpointer) dropMoved(log *wal.Log) error {
	next, err := c.pager.options.System.Open(c.pager.file.Name(), osfile.ReadWrite, 0)
	if err != nil {
		return dberr.IgnoreMissing(err)
	}
	err = next.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize)
	if err == nil {
		err = c.finishMoved(log, next)
	}
	return dberr.Join(err, next.Close())
}

// finishMoved removes the log once the old file needs it no more. The caller holds EXCLUSIVE on the
// new file, too.
func (c *checkpointer) finishMoved(log *wal.Log, next osfile.Handle) error {
	if moved, err := next.Moved(); err != nil || moved {
		return err // replaced once more
	}
	if f, ok := c.pager.file.(interface{ Named() bool }); !ok || f.Named() {
		if c.pager.options.ReadOnly {
			return nil
		}
		if done, err := c.copyAside(log); err != nil || !done {
			return err
		}
	}
	return log.Remove()
}

// copyAside copies the log into a file that has got another name, and reports whether all of it is
// there.
func (c *checkpointer) copyAside(log *wal.Log) (bool, error) {
	if err := c.pager.failure(); err != nil && !errors.Is(err, dberr.ErrMoved) {
		return false, nil
	}
	if err := log.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1); err != nil {
		return false, dberr.IgnoreLocked(err)
	}
	defer log.Index.Unlock(format.WALCheckpointLock, 1)
	if !log.Untouched() {
		return false, nil
	}
	frames, copied, err := log.CopyBack(c.pager.file, c.pager.sync)
	return err == nil && copied == frames, err
}

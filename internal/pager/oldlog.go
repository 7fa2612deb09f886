package pager

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A file that is replaced while it is open leaves its log beside the new file. No file needs that
// log any more, and the new one cannot be opened as long as it is there (ErrMispaired). So who
// closes the old file last removes the log, if all of this is certain:
//
//	Q1  Nobody else holds the old file open, or the log: EXCLUSIVE is held, and so is the lock of
//	    connections that use the index.
//	Q2  The names of the log and of its index still lead to the files that this pager has open.
//	Q3  Another file has the name of the database, and nobody has that one open: EXCLUSIVE on it is
//	    held, too. Or nothing has the name. Or the file itself has become another database, or is
//	    empty.
//	Q4  The log was found to belong to the old file, and that has no name any more. Or everything is
//	    copied into it before, and nobody has written to it but checkpoints.
//
// The locks are taken in this order, PENDING before each EXCLUSIVE, and kept: whoever tries to open
// the new file gets out of the way. Whoever closes the old file, but not as the last one, gives up
// its locks before it waits, so that it is in nobody's way either.
//
// A program of SQLite that had the old file open leaves the log there, and may close it at any
// time. So a pager that was closed while others stood in the way is kept, without a lock, and the
// next Open of the name in this process tries again. A log that no process knows of any more stays,
// and the new file is refused: the old one may be the right one.

// How long Close waits for other connections that close the old file, too, or try to open the new
// one; and how long Open waits for the former.
const (
	dropPatience     = time.Second
	dropPatienceOpen = 20 * time.Millisecond
)

// dropLog removes the log of a file that was replaced, if that is safe (Q1 to Q4), now or later.
// Close returns ErrMoved whatever becomes of the log, unless the file was open for reading.
func (c *checkpointer) dropLog(overwritten bool) error {
	d := &oldLog{core: c.core, locks: c.readers.locks, log: c.readers.wal, release: c.readers.release, overwritten: overwritten}
	moved := c.movedAway("close", c.file)
	if c.options.ReadOnly {
		moved = nil
	}
	if osfile.SplitsLocks && c.readers.wal.Known() && !d.drop(dropPatience) && c.options.System == osfile.OS {
		oldLogs.keep(d)
		c.readers.kept = true
	}
	return moved
}

// An oldLog is the log of a file that was replaced. It belongs to a pager that is closed but for
// its files.
type oldLog struct {
	*core
	locks       *fileLocks
	log         *wal.Log
	release     func() error  // closes the files
	overwritten bool          // by another database; else the file has lost its name
	next        osfile.Handle // the file that now has the name; nil while it is not open
}

// drop removes the log, and reports whether nothing is left to do: it is gone, or it is certain
// that it must stay. No locks are left.
func (d *oldLog) drop(patience time.Duration) (done bool) {
	err := d.retryWith(context.Background(), &waitBudget{timeout: patience}, func() error {
		return dberr.Guard(d.try)
	})
	d.closeNext()
	d.leave()
	return !errors.Is(err, dberr.ErrBusy)
}

// leave gives up all locks on the old file and its index.
func (d *oldLog) leave() {
	_ = d.file.Unlock(0, math.MaxInt64) // fails only with the file
	d.log.Index.Leave()
}

func (d *oldLog) closeNext() {
	if d.next != nil {
		_ = d.next.Close() // nothing was written to it
		d.next = nil
	}
}

// try is drop without patience. ErrLocked means to try again.
func (d *oldLog) try() error {
	log := d.log
	if err := d.lockOld(); err != nil {
		return err
	}
	if err := d.inPlace(log.Files(d.file)[1:]...); err != nil {
		return err
	}
	if !d.overwritten || d.options.ReadOnly {
		if err := d.lockNext(); err != nil {
			return err
		}
	}
	if err := log.Index.LockAll(); err != nil {
		return err
	}
	unused, err := d.unused()
	if err != nil || !unused {
		return err
	}
	return log.Remove()
}

// lockOld takes EXCLUSIVE on the old file, and gets out of the way of another one that waits for
// it. Where the file is open for reading only, it sees to it that nobody else has it open: nobody
// can open it any more, if it has no name.
func (d *oldLog) lockOld() error {
	if !d.options.ReadOnly {
		err := lockExclusive(d.file)
		if err != nil && d.locks.writerWaits() {
			d.leave()
		}
		return err
	}
	d.leave()
	if d.overwritten { // lockNext sees to it
		return nil
	}
	locked, err := d.file.Locked(osfile.Exclusive, format.SharedByte, format.SharedSize)
	if err == nil && locked {
		err = errInUse
	}
	return err
}

// lockNext takes EXCLUSIVE on the file with the name now, if there is one.
func (d *oldLog) lockNext() error {
	for {
		if d.next == nil {
			next, err := d.options.System.Open(d.file.Name(), osfile.ReadWrite, 0)
			if err != nil {
				return dberr.IgnoreMissing(err)
			}
			d.next = next
		}
		if err := lockExclusive(d.next); err != nil {
			return err
		}
		if moved, err := d.next.Moved(); err != nil || !moved {
			return err
		}
		d.closeNext() // it was replaced, too
	}
}

// unused reports whether no file needs the log (Q3, Q4). All locks are held.
func (d *oldLog) unused() (bool, error) {
	if d.overwritten {
		return d.isDatabase()
	}
	if f, ok := d.file.(interface{ Named() bool }); ok && !f.Named() {
		return true, nil
	}
	if d.options.ReadOnly {
		return false, nil
	}
	return d.copyAside()
}

// isDatabase reports whether the file was overwritten by a database, or is empty. Of any other file
// it is not certain that it was meant to replace the old one.
func (d *oldLog) isDatabase() (bool, error) {
	var b [format.HeaderSize]byte
	if n, err := d.file.ReadAt(b[:], 0); n == 0 || err != nil {
		return n == 0 && dberr.IgnoreEOF(err) == nil, dberr.IgnoreEOF(err)
	}
	h, what := format.ParseHeader(b[:])
	return what == "" && h.ChangeCounter == h.VersionValidFor, nil
}

// copyAside copies the log into a file that has got another name, and reports whether all of it is
// there.
func (d *oldLog) copyAside() (bool, error) {
	log := d.log
	if err := d.failure(); err != nil && !errors.Is(err, dberr.ErrMoved) {
		return false, nil
	}
	if err := log.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1); err != nil {
		return false, err
	}
	defer log.Index.Unlock(format.WALCheckpointLock, 1)
	if !log.Untouched() {
		return false, nil
	}
	frames, copied, err := log.CopyBack(d.file, d.sync)
	return err == nil && copied == frames, err
}

// oldLogs are the old logs that this process could not remove yet.
var oldLogs oldLogList

type oldLogList struct {
	mu   sync.Mutex // guards list
	list []*oldLog  // the newest last
}

// mostOldLogs is how many are kept: each has three files open.
const mostOldLogs = 64

func (l *oldLogList) keep(d *oldLog) {
	l.mu.Lock()
	l.list = append(l.list, d)
	var first *oldLog
	if len(l.list) > mostOldLogs {
		first, l.list = l.list[0], slices.Delete(l.list, 0, 1)
	}
	l.mu.Unlock()
	if first != nil {
		_ = first.release() // nothing of it was to be written
	}
}

// drop removes the logs beside the database of this name.
func (l *oldLogList) drop(name string) {
	for _, d := range l.take(name) {
		if d.drop(dropPatienceOpen) {
			_ = d.release() // nothing of it was to be written
		} else {
			l.keep(d)
		}
	}
}

func (l *oldLogList) take(name string) (taken []*oldLog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == 0 {
		return nil
	}
	l.list = slices.DeleteFunc(l.list, func(d *oldLog) bool {
		here := d.file.Name() == name
		if here {
			taken = append(taken, d)
		}
		return here
	})
	return taken
}

package pager

import (
	"errors"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/reserve"
	"github.com/foliofs/folio/internal/wal"
)

// lead commits g, unless a transaction that had to spill did meanwhile. The caller is the first of
// g.
func (c *committer) lead(g *group) error {
	w := c.writer
	<-w.commitLock
	defer func() { w.commitLock <- struct{}{} }()
	<-w.writeLock
	defer func() { w.writeLock <- struct{}{} }()
	if !g.over {
		c.commit()
	}
	err := g.err
	w.retire(g)
	return err
}

// commit commits the open group. The caller must hold the commit lock and the write lock, and lends
// them to other transactions where that is good (G1).
func (c *committer) commit() {
	w := c.writer
	if w.base.wal == nil || crowded(w.base.wal, w.base.words[4]) { // no transaction may go on meanwhile: the log must restart
		c.flush()
		return
	}
	sealed, base := w.seal(), w.base
	w.flight = sealed
	defer c.publish(sealed)
	w.lendWriteLock(sealed, func() { c.write(base, sealed) })
}

// flush commits the open group. The caller must hold the write lock, and no transaction runs and no
// group is on its way: it holds the commit lock, too, or the open group has spilled.
func (c *committer) flush() { c.finish(c.writer.seal()) }

// finish writes a sealed group and concludes it. The caller must hold the locks that flush
// requires.
func (c *committer) finish(g *group) {
	defer c.publish(g)
	c.write(c.writer.base, g)
}

// errUnfinished is the error of a group during whose commit something panicked.
var errUnfinished = errors.New("the commit was not finished")

// write commits a group, and looks at the database as it is then. The caller concludes it even if
// Options.Trace panics.
func (c *committer) write(base *Snapshot, g *group) {
	start := c.clock()
	g.err = errUnfinished
	err := c.failure()
	if err == nil {
		err = c.writeGroup(base, g)
	}
	g.err = err
	switch {
	case err == nil:
		c.tally.groups.Add(1)
		c.tally.transactions.Add(uint64(g.count))
		g.unread = errUnfinished
		g.next, g.unread = c.follow(base, g)
	case base.wal == nil: // the caller holds the write lock: no other transaction spills meanwhile
		c.abandon()
	}
	c.trace(Event{Kind: EventCommit, Start: start, Transactions: g.count, Pages: len(g.pages), Err: g.err})
}

func (c *committer) writeGroup(base *Snapshot, g *group) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := c.ensureSpace(base, g); err != nil {
		return err
	}
	if base.wal == nil {
		return c.rollback.commitFile(c.writer.takeJournal(), base, g.pages, g.size, g.ctxs...)
	}
	err = c.writeLog(base.wal, base, g)
	if err != nil && g.reserve && g.tail.Last == 0 && c.lendLog(base.wal, err) {
		err = c.writeLog(base.wal, base, g)
	}
	return err
}

// ensureSpace sees to it that the file has disk space for the pages of a group. The caller is the
// writer.
func (c *committer) ensureSpace(base *Snapshot, g *group) error {
	bytes := max(int64(len(g.pages)), int64(g.size)-int64(base.PageCount)) << base.PageShift
	if c.reserve.Covers(bytes) {
		return nil
	}
	tight, err := c.reserve.Ensure(&reserve.Commit{
		Pgnos: g.numbers(), Before: base.PageCount, After: g.size, PageShift: base.PageShift, Bytes: bytes, Removes: g.reserve,
	})
	if base.wal != nil {
		base.wal.Tight = tight
	}
	return err
}

// follow returns the snapshot of the state that was just committed, with the caller as a reader.
func (c *committer) follow(base *Snapshot, g *group) (next *Snapshot, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if base.wal == nil {
		return c.readers.handOver()
	}
	if g.tail.Last != 0 {
		return c.readers.republish()
	}
	return c.readers.advance(base, &g.header, g.pages)
}

// logEnd returns the header of the index where the next frame goes, after restarting the log if
// that is due.
func (c *committer) logEnd(base *Snapshot) (h format.WALIndexHeader, err error) {
	if h, err = base.wal.Header(); err != nil || base.lease.Slot != 0 {
		return h, err
	}
	_, err = base.wal.Restart(&h)
	return h, err
}

// writeLog appends a group to the log and tells everybody.
func (c *committer) writeLog(log *wal.Log, base *Snapshot, g *group) error {
	if err := (&Rx{Snapshot: base, core: c.core}).Unreplaced(); err != nil {
		return err
	}
	t := g.tail
	if t.Last == 0 {
		h, err := c.logEnd(base)
		if err != nil {
			return err
		}
		t = wal.Tail{Header: h, Last: h.MaxFrame, Sum: h.Frame}
	}
	h, before := &t.Header, t.Header
	if err := c.appendGroup(log, &t, g); err != nil {
		return dberr.Join(err, log.Index.Forget(h.MaxFrame))
	}
	h.MaxFrame, h.PageCount, h.Frame = t.Last, g.size, t.Sum
	h.Change++
	g.header = *h
	return log.Publish(&before, h, !g.unknown)
}

// appendGroup appends a group behind t, and syncs it if durability asks for that. A log that other
// programs have cut off or taken away is not one to commit to.
func (c *committer) appendGroup(log *wal.Log, t *wal.Tail, g *group) error {
	synced := g.synced || c.options.Durability <= DurabilityExtra
	look := synced || c.lookDue()
	if look {
		if err := c.whole(log, t.Last); err != nil {
			return err
		}
	}
	pages := g.pages
	for ; len(pages) > batchFrames; pages = pages[batchFrames:] {
		if err := log.AppendTail(t, pages[:batchFrames], 0, c.sync); err != nil {
			return err
		}
	}
	if err := log.AppendTail(t, pages, g.size, c.sync); err != nil {
		return err
	}
	if err := log.Reseal(t); err != nil {
		return err
	}
	if synced {
		log.Synced = true // it grows in steps from now on
		if err := log.SyncBy(c.sync); err != nil {
			return err
		}
	}
	if look {
		return c.stillInPlace(log.Files(c.file)...) // the log has a commit that is none
	}
	return nil
}

// publish lets the transactions of g go, and lets the next ones begin from the state that is
// committed now. The caller must hold the write lock.
func (c *committer) publish(g *group) {
	w := c.writer
	if g.over {
		return
	}
	g.over, w.flight = true, nil
	defer g.wake()
	defer c.releaseIfIdle()
	if err := g.broken(); err != nil {
		w.drop(err)
		c.checkpointFull(w.base, err)
	} else {
		w.base.lease.Leave()
		w.cacheGroup(g)
		w.base, c.readers.committed = g.next, g.next.Version
		if log := g.next.wal; log != nil {
			_ = dberr.Guard(func() error { return c.checkpointIfDue(log, g.next.words[4]) }) // the group is committed all the same; the next commit tries again
		}
	}
}

// lookDue reports whether the files must be looked at before a commit that is not synced.
func (c *committer) lookDue() bool {
	now := time.Now()
	if now.Sub(c.looked) < lookEvery {
		return false
	}
	c.looked = now
	return true
}

// flushSpilled commits the transaction that has spilled, before another one begins
// (S2). If that fails, its caller gets the error.
func (c *committer) flushSpilled() {
	if w := c.writer; w.tail.Last != 0 || w.journal != nil {
		invariant.Check(w.flight == nil, "a transaction has spilled behind a group that is not committed")
		c.flush()
	}
}

// abandon rolls a journal back whose transaction has come to nothing.
func (c *committer) abandon() {
	switch j := c.writer.takeJournal(); {
	case j == nil:
	case j.Hot:
		_ = c.rollback.undo(j) // a failure ends writing
	default:
		_ = j.Discard()
	}
}

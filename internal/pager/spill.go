package pager

import (
	"cmp"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/wal"
)

// A transaction that changes more pages than memory may hold spills: the pages that it has changed
// so far go to the log, as frames that no commit follows yet, or in rollback mode to the file, once
// the journal has the originals. Readers never see it; going back to a savepoint takes it back.
//
//	S1  A transaction spills between two operations, when no b-tree holds a page.
//	S2  The pages of earlier transactions are committed first, and the pages that this one has spilled
//	    before the next one begins: only one transaction has pages in the log without a commit, or a
//	    journal, and going back takes nothing from another.
//	S3  tail is where the log ends for the transaction that spilled; a savepoint remembers where it
//	    ended for it.
//	S4  If half of the spilled pages were spilled again, a page is written over the frame that it
//	    has behind the end that the savepoint remembers, so that the log is not longer than twice
//	    what the transaction changed. The checksums from there on are made right before the commit
//	    is synced.
//	S5  Pages spilled before a savepoint come in the log before the ones spilled after it, so that
//	    going back cuts the log off. Pages of before that came back into memory, as another
//	    savepoint was taken back, wait there while anything of after is in the log.

// spillBytes is how much memory the changed pages of a transaction may take.
const spillBytes = 96 << 20

func (c *committer) spill(tx *Tx) error {
	tx.writer.movedAll()                       // (K2)
	if err := c.flushEarlier(tx); err != nil { // S2
		return err
	}
	if err := c.spillLevel(tx, tx.level, math.MaxUint64); err != nil {
		return err
	}
	limit := int(c.options.SpillBytes / int64(tx.Header.PageSize))
	tx.writer.held = min(tx.writer.pages.Count, limit-limit/4) // as nextSpill leaves it, even where pages must wait (S5)
	return nil
}

// spillLevel spills the pages that were taken before a savepoint with the given number began, those
// of the outer levels first, so that going back to s leaves them where they are.
func (c *committer) spillLevel(tx *Tx, s *savepoint, before uint64) error {
	w := tx.writer
	if s.outer != nil {
		if err := c.spillLevel(tx, s.outer, s.id); err != nil {
			return err
		}
	}
	if inner := tx.within(s); inner != nil && inner.tail.Last != w.tail.Last { // S5
		return nil
	}
	batch := w.own(s, before)
	if len(batch) == 0 { // every change was taken back
		return nil
	}
	if s.outer == nil && s == tx.level {
		batch = w.nextSpill(batch)
	}
	err := error(nil)
	if tx.wal != nil {
		err = c.spillLog(tx, batch, s.tail.Last)
	} else {
		err = c.spillFile(tx, batch)
	}
	if err != nil {
		return err
	}
	for _, p := range batch {
		w.recent.keep(w.pages.Get(p.Pgno))
		w.pages.Drop(p.Pgno)
		w.recent.pages.Drop(p.Pgno)
	}
	for inner := tx.level; inner != s; inner = inner.outer {
		inner.tail = w.tail // none of them has spilled yet (S5)
	}
	return nil
}

// within returns the level that began in s, or nil.
func (tx *Tx) within(s *savepoint) *savepoint {
	for inner := tx.level; inner != s; inner = inner.outer {
		if inner.outer == s {
			return inner
		}
	}
	return nil
}

// nextSpill returns the quarter of the pages that is spilled next: a page that is spilled may
// must be again, so that as much as can be stays.
func (w *writer) nextSpill(batch []wal.Page) []wal.Page {
	from, _ := slices.BinarySearchFunc(batch, w.hand, byNumber)
	if from == len(batch) {
		from = 0
	}
	to := min(from+len(batch)/4+1, len(batch))
	w.hand = batch[to-1].Pgno + 1
	return batch[from:to]
}

func byNumber(p wal.Page, pgno uint32) int { return cmp.Compare(p.Pgno, pgno) }

// own returns the pages in memory that were taken since s, before another savepoint began, in
// order. All are of the transaction that runs: pages of other transactions are committed.
func (w *writer) own(s *savepoint, before uint64) (batch []wal.Page) {
	for pgno, p := range w.pages.All() {
		if p.tx < before && (p.tx >= s.id || s.outer == nil) {
			batch = append(batch, wal.Page{Pgno: pgno, Data: p.data})
		}
	}
	return batch
}

// flushEarlier lets the group that is being written, and then the pages that earlier transactions
// left in the open one, be committed.
func (c *committer) flushEarlier(tx *Tx) error {
	w := tx.writer
	if f := w.flight; f != nil {
		f.writing.Wait()
		c.publish(f)
		if err := f.broken(); err != nil {
			return err
		}
	}
	if len(w.open.pgnos) > 0 {
		g := tx.sealBefore()
		c.finish(g)
		if err := g.broken(); err != nil {
			return err
		}
	}
	tx.rebase()
	return nil
}

// sealBefore closes the open group with its pages as they were before the transaction that runs.
// Those are its own from now on.
func (tx *Tx) sealBefore() *group {
	w := tx.writer
	now := make(map[uint32]*dirtyPage)
	for s := tx.level; s != nil; s = s.outer { // the outermost last
		for _, u := range slices.Backward(s.undo) {
			if _, ok := now[u.pgno]; !ok {
				now[u.pgno] = w.pages.Get(u.pgno)
			}
			w.put(u.pgno, u.before)
		}
		for pgno := s.state.size + 1; pgno <= tx.PageCount; pgno++ {
			if _, ok := now[pgno]; !ok && w.pages.Get(pgno) != nil {
				now[pgno] = w.pages.Get(pgno)
			}
			w.pages.Drop(pgno)
		}
	}
	g := w.seal()
	g.size = tx.size
	for pgno, p := range now {
		w.put(pgno, p)
		if p != nil {
			p.group = w.open
		}
	}
	first := tx.outermost().id
	for s := tx.level; s != nil; s = s.outer {
		for i := range s.undo {
			switch u := &s.undo[i]; {
			case u.before == nil:
			case u.before.tx >= first:
				u.before.group = w.open
			default:
				u.before = nil // it will be in the log, or in the file
			}
		}
	}
	return g
}

// rebase lets the transaction read, below its own pages, the state that is committed now.
func (tx *Tx) rebase() {
	base := tx.writer.base
	s := tx.Snapshot
	s.lease, s.wal, s.words, s.last, s.file, s.frames = base.lease, base.wal, base.words, base.last, base.whole(), base.frames
	s.reach(tx.writer.spilledTo())
}

// spillLog puts pages into the log without a commit: over the frames that they have behind keep
// (S4), or else behind all.
func (c *committer) spillLog(tx *Tx, batch []wal.Page, keep uint32) error {
	w, log := tx.writer, tx.wal
	if w.tail.Last == 0 {
		h, err := c.logEnd(w.base)
		if err != nil {
			return err
		}
		w.tail = wal.Tail{Header: h, Last: h.MaxFrame, Sum: h.Frame}
	}
	batch, err := log.SpillOver(&w.tail, batch, max(keep, w.tail.Header.MaxFrame))
	if err != nil {
		return err
	}
	for len(batch) > 0 {
		n := min(len(batch), batchFrames)
		if err := log.AppendTail(&w.tail, batch[:n], 0, c.sync); err != nil {
			return dberr.Join(err, log.Index.Forget(w.tail.Last))
		}
		batch = batch[n:]
	}
	tx.reach(w.tail.Last)
	return nil
}

// batchFrames is how many frames are appended by one write.
const batchFrames = 1024

// spillFile saves the pages of the file in the journal, and overwrites them.
func (c *committer) spillFile(tx *Tx, batch []wal.Page) (err error) {
	w := tx.writer
	if w.journal == nil {
		if w.journal, err = c.rollback.openJournal(w.base); err != nil {
			return err
		}
	}
	if err := c.rollback.saveOriginals(w.journal, w.base, batch, tx.PageCount); err != nil {
		return err
	}
	if err := c.rollback.awaitExclusive(w.base, tx.ctx); err != nil {
		return err
	}
	if err := c.keepOriginals(tx, batch); err != nil {
		return err
	}
	w.journal.Hot = true
	if err := c.rollback.writePages(w.base, batch, tx.PageCount); err != nil {
		return err
	}
	for _, p := range batch {
		w.spilled.Add(p.Pgno)
	}
	tx.Cache = new(pageCache)
	return nil
}

// keepOriginals keeps in memory the content that the file has of pages which a nested part of the
// transaction is about to overwrite there.
func (c *committer) keepOriginals(tx *Tx, batch []wal.Page) error {
	for s := tx.level; s.outer != nil; s = s.outer {
		for i := range s.undo {
			u := &s.undo[i]
			if _, spills := slices.BinarySearchFunc(batch, u.pgno, byNumber); !spills || u.before != nil || u.pgno > s.state.size {
				continue
			}
			data := make([]byte, tx.Header.PageSize)
			if _, err := c.file.ReadAt(data, int64(u.pgno-1)*int64(len(data))); err != nil {
				return dberr.CutOff(c.path, err)
			}
			u.before = &dirtyPage{data: data, tx: noTransaction, group: tx.writer.open}
		}
	}
	return nil
}

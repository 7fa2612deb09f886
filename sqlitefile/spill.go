package sqlitefile

import (
	"cmp"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/osfile"
)

// A transaction that changes more pages than memory shall hold spills: what it has changed so far goes to the log, as frames that no commit
// follows yet, or in rollback mode to the file, once the journal has the originals. Readers never see it; going back to a savepoint takes
// it back.
//
//	S1  A transaction spills between two operations, when no b-tree holds a page.
//	S2  What was kept by earlier transactions is committed first, and what this one has spilled before the next one begins: only one transaction has
//	    pages in the log without a commit, or a journal, and going back takes nothing from another.
//	S3  tail is where the log ends for the transaction that spilled; a savepoint remembers where it ended for it.
//	S4  Where half of what was spilled was so again, a page is written over the frame that it has behind the end that the savepoint remembers, so
//	    that the log is not longer than twice what the transaction changed. The checksums from there on are made right before the commit
//	    is synced.
//	S5  What was taken before a savepoint lies in the log before what was taken after it, so that going back cuts the log off. Pages of before that
//	    came back into memory, as another savepoint was taken back, wait there while anything of after is in the log.

// spillBytes is how much memory the changed pages of a transaction may take.
const spillBytes = 96 << 20

// A logTail is the end of the log behind frames that are not committed. The zero value is where the last commit ended.
type logTail struct {
	header format.WALIndexHeader // of the last commit, with the salts of the frames
	last   uint32
	sum    format.Checksum
	again  uint32 // of the frames since the last commit, how many hold a page that a later one holds as well
	broken uint32 // the first frame whose checksum is wrong, as a page was written over it or before it (S4); 0 if none
}

// relax is called before each operation.
func (tx *Tx) relax() error {
	if tx.over {
		return tx.db.pathError("write", ErrClosed)
	}
	if int64(tx.writer.held)*int64(tx.header.PageSize) < tx.db.options.spillBytes {
		return nil
	}
	if err := tx.spill(); err != nil {
		tx.level.spoiled = err
		return err
	}
	return nil
}

func (tx *Tx) spill() error {
	if err := tx.land(); err != nil { // S2
		return err
	}
	if err := tx.spillLevel(tx.level, math.MaxUint64); err != nil {
		return err
	}
	limit := int(tx.db.options.spillBytes / int64(tx.header.PageSize))
	tx.writer.held = min(tx.writer.pages.count, limit-limit/4) // as nextSpill leaves it, even where pages have to wait (S5)
	return nil
}

// spillLevel spills the pages that were taken before a savepoint with the given number began, those of the outer levels first, so that
// going back to s leaves them where they are.
func (tx *Tx) spillLevel(s *savepoint, before uint64) error {
	w := tx.writer
	if s.outer != nil {
		if err := tx.spillLevel(s.outer, s.id); err != nil {
			return err
		}
	}
	if inner := tx.within(s); inner != nil && inner.tail.last != w.tail.last { // S5
		return nil
	}
	batch := w.own(s, before)
	if len(batch) == 0 { // what was changed was taken back
		return nil
	}
	if s.outer == nil && s == tx.level {
		batch = w.nextSpill(batch)
	}
	err := error(nil)
	if tx.wal != nil {
		err = tx.spillLog(batch, s.tail.last)
	} else {
		err = tx.spillFile(batch)
	}
	if err != nil {
		return err
	}
	for _, p := range batch {
		w.shelf.keep(w.pages.get(p.pgno))
		w.pages.drop(p.pgno)
		w.shelf.pages.drop(p.pgno)
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

// nextSpill returns those of the pages whose turn it is, a quarter of them: what is spilled may have to be again, so that as much as can be stays.
func (w *writer) nextSpill(batch []framePage) []framePage {
	from, _ := slices.BinarySearchFunc(batch, w.hand, byNumber)
	if from == len(batch) {
		from = 0
	}
	to := min(from+len(batch)/4+1, len(batch))
	w.hand = batch[to-1].pgno + 1
	return batch[from:to]
}

func byNumber(p framePage, pgno uint32) int { return cmp.Compare(p.pgno, pgno) }

// own returns the pages in memory that were taken since s, before another savepoint began, in order. All are of the transaction that runs: others are
// committed.
func (w *writer) own(s *savepoint, before uint64) (batch []framePage) {
	for pgno, p := range w.pages.all() {
		if p.tx < before && (p.tx >= s.id || s.outer == nil) {
			batch = append(batch, framePage{pgno, p.data})
		}
	}
	return batch
}

// land lets the group that is being written, and then what earlier transactions left in the open one, be committed.
func (tx *Tx) land() error {
	w := tx.writer
	if f := w.flight; f != nil {
		f.writing.Wait()
		tx.db.conclude(f)
		if err := f.broken(); err != nil {
			return err
		}
	}
	if len(w.open.pgnos) > 0 {
		g := tx.sealBefore()
		tx.db.finish(g)
		if err := g.broken(); err != nil {
			return err
		}
	}
	tx.rebase()
	return nil
}

// landSpilled commits what transactions before have spilled and kept, before another one begins (S2). They are told if that fails.
func (db *DB) landSpilled() {
	if w := &db.writer; w.tail.last != 0 || w.journal != nil {
		invariant.Check(w.flight == nil, "a transaction has spilled behind a group that is not committed")
		db.flush()
	}
}

// sealBefore closes the open group with its pages as they were before the transaction that runs. Those are its own from now on.
func (tx *Tx) sealBefore() *group {
	w := tx.writer
	now := make(map[uint32]*dirtyPage)
	for s := tx.level; s != nil; s = s.outer { // the outermost last
		for _, u := range slices.Backward(s.undo) {
			if _, ok := now[u.pgno]; !ok {
				now[u.pgno] = w.pages.get(u.pgno)
			}
			w.put(u.pgno, u.before)
		}
		for pgno := s.state.size + 1; pgno <= tx.pages; pgno++ {
			if _, ok := now[pgno]; !ok && w.pages.get(pgno) != nil {
				now[pgno] = w.pages.get(pgno)
			}
			w.pages.drop(pgno)
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

// outermost returns the savepoint that the transaction began with.
func (tx *Tx) outermost() *savepoint {
	s := tx.level
	for s.outer != nil {
		s = s.outer
	}
	return s
}

// put lets p be what is in memory of a page; nil if there is nothing.
func (w *writer) put(pgno uint32, p *dirtyPage) {
	if p == nil {
		w.pages.drop(pgno)
	} else {
		w.pages.put(pgno, p)
	}
}

// rebase lets the transaction read below its own pages what is committed now.
func (tx *Tx) rebase() {
	base := tx.writer.base
	s := tx.snapshot
	s.lease, s.wal, s.words, s.last, s.file, s.frames = base.lease, base.wal, base.words, base.last, base.whole(), base.frames
	s.reach(tx.writer.spilledTo())
}

// reach lets the snapshot of a transaction see what was spilled up to a frame; 0 for nothing. No table has these frames, whose numbers may be those
// of frames before: the log may have begun anew for them, and what is taken back is written over.
func (s *snapshot) reach(frame uint32) {
	if frame != 0 {
		s.last, s.frames = max(s.last, frame), nil
	}
}

// spilledTo returns the last frame of what was spilled and is not committed yet; 0 if nothing was.
func (w *writer) spilledTo() uint32 {
	if w.tail.last == 0 && w.flight != nil {
		return w.flight.tail.last
	}
	return w.tail.last
}

// whole returns the pages of the file as they lie in the map.
func (s *snapshot) whole() []byte {
	if s.wal == nil {
		return s.mapped
	}
	return s.file
}

// spillLog puts pages into the log without a commit: over the frames that they have behind keep (S4), or else behind all.
func (tx *Tx) spillLog(batch []framePage, keep uint32) error {
	w, log := tx.writer, tx.wal
	if w.tail.last == 0 {
		h, err := tx.db.logEnd(w.base)
		if err != nil {
			return err
		}
		w.tail = logTail{header: h, last: h.MaxFrame, sum: h.Frame}
	}
	batch, err := log.spillOver(&w.tail, batch, max(keep, w.tail.header.MaxFrame))
	if err != nil {
		return err
	}
	for len(batch) > 0 {
		n := min(len(batch), batchFrames)
		if err := log.appendTail(&w.tail, batch[:n], 0, tx.db.syncStart); err != nil {
			return join(err, log.index.forget(w.tail.last))
		}
		batch = batch[n:]
	}
	tx.reach(w.tail.last)
	return nil
}

// batchFrames is how many frames are appended by one write.
const batchFrames = 1024

// spillOver writes those pages that have a frame behind keep over it, if there are too many of them, and returns the others.
func (w *wal) spillOver(t *logTail, batch []framePage, keep uint32) (others []framePage, err error) {
	if t.last == keep {
		return batch, nil
	}
	for _, p := range batch {
		frame, err := w.index.find(p.pgno, t.last)
		if err != nil {
			return nil, err
		}
		if frame > keep && t.again < (t.last-t.header.MaxFrame)/2 {
			t.again++
			frame = 0
		}
		if frame <= keep {
			others = append(others, p)
			continue
		}
		if t.broken == 0 || frame < t.broken {
			t.broken = frame
		}
		if _, err := w.file.WriteAt(p.data, format.FrameOffset(frame, w.pageSize)+format.FrameHeaderSize); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// reseal makes the checksums right from the first frame on where they are not.
func (w *wal) reseal(t *logTail) error {
	if t.broken == 0 {
		return nil
	}
	head := format.WALHeader{BigEndian: t.header.BigEndian, PageSize: t.header.PageSize, Salt: t.header.Salt}
	b := make([]byte, w.frame)
	sum := t.header.Frame
	if t.broken > t.header.MaxFrame+1 {
		if _, err := w.file.ReadAt(b, format.FrameOffset(t.broken-1, w.pageSize)); err != nil {
			return cutOff(w.file.Name(), err)
		}
		f, _ := format.ParseFrameHeader(b)
		sum = f.Checksum
	}
	for n := t.broken; n <= t.last; n++ {
		at := format.FrameOffset(n, w.pageSize)
		if _, err := w.file.ReadAt(b, at); err != nil {
			return cutOff(w.file.Name(), err)
		}
		f, _ := format.ParseFrameHeader(b)
		f.Seal(&head, sum, b[format.FrameHeaderSize:])
		f.Put(b)
		if _, err := w.file.WriteAt(b[:format.FrameHeaderSize], at); err != nil {
			return err
		}
		sum = f.Checksum
	}
	t.sum, t.broken = sum, 0
	return nil
}

// appendTail appends pages behind t, and moves it. The index knows of them, but its header does not.
func (w *wal) appendTail(t *logTail, batch []framePage, size uint32, syncStart func(osfile.Handle) error) error {
	if _, err := w.index.extend(format.WALIndexBlock(t.last + uint32(len(batch)))); err != nil {
		return err // while the log has no commit of it
	}
	if err := w.append(t, batch, size, syncStart); err != nil {
		return err
	}
	for i, p := range batch {
		if err := w.index.add(t.last+uint32(i)+1, p.pgno); err != nil {
			return err
		}
	}
	t.last += uint32(len(batch))
	return nil
}

// takeBack forgets what was spilled since s.
func (tx *Tx) takeBack(s *savepoint) {
	w := tx.writer
	if w.tail.last == s.tail.last {
		return
	}
	end := s.tail.last
	if end == 0 {
		end = w.tail.header.MaxFrame
	}
	_ = tx.wal.index.forget(end) // what is left there is overwritten by the next commit
	w.tail = s.tail
	tx.last = max(w.base.last, end)
}

// spillFile saves what the file has in the journal, and overwrites it.
func (tx *Tx) spillFile(batch []framePage) (err error) {
	w := tx.writer
	if w.journal == nil {
		if w.journal, err = tx.db.openJournal(w.base); err != nil {
			return err
		}
	}
	if err := w.journal.save(&Rx{snapshot: w.base, db: tx.db}, overwritten(w.base, batch, tx.pages)); err != nil {
		return err
	}
	if err := tx.db.awaitExclusive(w.base, tx.ctx); err != nil {
		return err
	}
	if err := tx.keepOriginals(batch); err != nil {
		return err
	}
	w.journal.hot = true
	if err := tx.db.writePages(w.base, batch, tx.pages); err != nil {
		return err
	}
	for _, p := range batch {
		w.spilled.add(p.pgno)
	}
	tx.cache = new(pageCache)
	return nil
}

// keepOriginals keeps in memory what the file has of pages that a nested part of the transaction is about to overwrite there.
func (tx *Tx) keepOriginals(batch []framePage) error {
	for s := tx.level; s.outer != nil; s = s.outer {
		for i := range s.undo {
			u := &s.undo[i]
			if _, spills := slices.BinarySearchFunc(batch, u.pgno, byNumber); !spills || u.before != nil || u.pgno > s.state.size {
				continue
			}
			data := make([]byte, tx.header.PageSize)
			if _, err := tx.db.file.ReadAt(data, int64(u.pgno-1)*int64(len(data))); err != nil {
				return cutOff(tx.db.path, err)
			}
			u.before = &dirtyPage{data: data, tx: nobody, group: tx.writer.open}
		}
	}
	return nil
}

// abandon rolls a journal back whose transaction has come to nothing.
func (db *DB) abandon() {
	w := &db.writer
	j := w.journal
	w.journal, w.spilled = nil, pageSet{}
	if j == nil {
		return
	}
	if j.hot {
		_ = db.undo(j) // a failure ends writing
	} else {
		_ = j.discard()
	}
}

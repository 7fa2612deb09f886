package pager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/lease"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// acquireLog takes a read lock of the log and makes a snapshot of the log's current state. Another
// connection holds the lock in the way for a moment only, in which it waits for nothing, unless it
// recovers the log: only that is worth an ErrLocked. The caller must hold mu.
func (r *readers) acquireLog() (*Snapshot, error) {
	locked := osfile.ErrLocked
	for range 100 {
		s, err := r.tryLog()
		switch {
		case errors.Is(err, osfile.ErrLocked):
			locked = err
		case !errors.Is(err, wal.ErrChanged):
			return s, err
		}
	}
	return nil, locked
}

func (r *readers) tryLog() (*Snapshot, error) {
	if err := r.renewLog(); err != nil {
		return nil, err
	}
	h, err := r.wal.State()
	if err != nil {
		return nil, err
	}
	words := h.Words()
	old := r.snapshot.Load()
	l, err := r.leaseFor(old, &h, &words)
	if err != nil {
		return nil, err
	}
	var s *Snapshot
	err = dberr.Guard(func() error {
		s, err = r.newLogSnapshot(old, &h, &words, l.Whole)
		if err = r.wal.Observer.UnlessChanged(err); err == dberr.ErrChanged {
			err = wal.ErrChanged
		}
		return err
	})
	if err != nil {
		l.Leave()
		return nil, err
	}
	s.lease = l
	r.snapshot.Store(s)
	return s, nil
}

// advance returns the snapshot after a commit to base of this writer that h describes, with the
// caller as a reader. Where the lease of base goes on, it is base with the changes of the commit.
func (r *readers) advance(base *Snapshot, h *format.WALIndexHeader, pages []wal.Page) (*Snapshot, error) {
	if base.lease.Slot == 0 || !base.lease.Enter() {
		return r.republish()
	}
	both := &struct { // in one piece of memory
		Snapshot
		pageCache
	}{Snapshot: *base}
	next := &both.Snapshot
	next.Version, next.words, next.last, next.PageCount = r.versions.Add(1), h.Words(), h.MaxFrame, h.PageCount
	next.Layout = next.Version
	next.Mapped, next.Cache = nil, &both.pageCache
	if pages[0].Pgno == 1 {
		next.Header, _ = format.ParseHeader(pages[0].Data)
		next.Schema = newSchema(next, base)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next.frames = next.wal.FrameTable(h)
	r.snapshot.Store(next)
	return next, nil
}

// leaseFor returns a lease under which the state h can be read, with the caller counted in: the
// lease of the last snapshot if its mark keeps the log from restarting, else a new one.
func (r *readers) leaseFor(old *Snapshot, h *format.WALIndexHeader, words *format.WALIndexWords) (*lease.Lease, error) {
	if old != nil && old.wal != nil {
		if old.lease.Slot > 0 && r.wal.Index.Backfill() != h.MaxFrame && old.lease.Enter() {
			return old.lease, nil
		}
		old.lease.Retire()
	}
	w := r.wal
	slot, whole, err := w.ReadLock(h, words)
	if err != nil {
		return nil, err
	}
	l := lease.New(slot, func() { w.UnlockRead(slot) })
	l.Whole = whole
	r.busy.Add(1)
	r.tally.add(l, r.busy.Done)
	mark := h.MaxFrame
	go l.Keep(func() bool { return w.MovedOn(mark) || w.InTheWay(l.Slot, l.Whole, mark) })
	return l, nil
}

// newLogSnapshot makes the snapshot of state h of the log. whole says that the file alone has
// everything.
func (r *readers) newLogSnapshot(old *Snapshot, h *format.WALIndexHeader, words *format.WALIndexWords, whole bool) (*Snapshot, error) {
	size, err := r.file.Size()
	if err != nil {
		return nil, err
	}
	if err := r.checkHome(h); err != nil {
		return nil, err
	}
	last := h.MaxFrame
	if whole {
		last = 0
	}
	b, err := r.firstPage(last)
	if err != nil {
		return nil, err
	}
	s, err := r.newSnapshot(old, b, size)
	if err != nil {
		return nil, err
	}
	s.wal, s.words, s.last, s.file, s.frames = r.wal, *words, last, s.Mapped, r.wal.FrameTable(h)
	same := old != nil && old.wal == r.wal && old.words == *words
	if h.MaxFrame == 0 && !(same && r.wal.Frozen()) {
		return s, r.measure(s, size)
	}
	if same { // no transaction has written since: the checksums of the log are in there
		s.Version, s.Cache = old.Version, old.Cache
		if old.last == last { // else pages that were read in the log must be read in the file from now on, or the other way round
			s.Layout = old.Layout
		}
	}
	if h.MaxFrame == 0 {
		return s, r.measure(s, size)
	}
	if last != 0 {
		s.Mapped = nil
	}
	return s, r.measureLog(s, h.PageCount)
}

// measureLog is measure where the last commit in the log left committed pages. Page 1 has its own
// count, which counts unless it is larger, as for SQLite.
func (r *readers) measureLog(s *Snapshot, committed uint32) error {
	s.PageCount = cmp.Or(s.Header.PageCount, committed)
	if s.PageCount <= committed {
		return nil
	}
	return r.corrupt(1, fmt.Sprintf("the log ends with %d of %d pages", committed, s.PageCount))
}

// firstPage returns the header as it is in the log up to frame last, or else in the file.
func (r *readers) firstPage(last uint32) ([]byte, error) {
	frame, err := r.wal.Index.Find(1, last)
	if err != nil {
		return nil, err
	}
	if frame != 0 {
		return r.wal.Page(frame)
	}
	b := make([]byte, format.HeaderSize)
	_, err = r.file.ReadAt(b, 0)
	return b, dberr.CutOff(r.path, err)
}

// republish makes the snapshot of the state that is committed now, with the caller as a reader. It
// holds WRITE, so that other connections are in the way only for the moment in which they move a
// read mark. A commit must not fail by that, whatever BusyTimeout says, for it is done.
func (r *readers) republish() (s *Snapshot, err error) {
	budget := waitBudget{timeout: max(r.options.BusyTimeout, markPatience)}
	err = r.retryWith(context.Background(), &budget, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		s, err = r.acquireLog()
		return err
	})
	return s, err
}

// markPatience is as long as SQLite waits for connections that move read marks.
const markPatience = 10 * time.Second

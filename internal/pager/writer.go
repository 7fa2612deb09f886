package pager

import (
	"slices"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/journal"
	"github.com/foliofs/folio/internal/pageset"
	"github.com/foliofs/folio/internal/wal"
)

// A writer is where the write transactions of a pager run, one after the other, and where their
// pages wait to be written.
//
// Transactions that come together are committed together. One that has run joins the open group and
// may be followed at once by the next, which sees its pages though they are not on disk yet;
// neither is acknowledged before its group is. The first of a group seals it and commits it for
// all, while the next one fills.
//
// Invariants:
//
//	G1  Only the holder of the write lock changes pages, size and the open group. Only the holder of
//	    the commit lock commits a group, except where a transaction spills: the groups before it,
//	    and its own, are committed by the holder of the write lock (S2).
//	G2  A page of a sealed group is never changed: a transaction that must change it changes a copy.
//	G3  A page that a transaction takes for the first time is kept in its undo until it ends, so
//	    that rolling back puts every page back.
//	G4  A group that fails takes with it everything that was built on it: the pages are dropped and
//	    all who wait get its error. One that is committed never fails, whatever happens after it; if
//	    the database cannot be read then, only the transactions that were built on it fail.
//	G5  While any page waits, this process holds the lock of a writer.
//
// The holder of the write lock owns all of it but turns.
type writer struct {
	turns
	base *Snapshot // the committed state below pages; the writer is one of its readers. nil while no page waits
	dirtyPages
	state // of the database, as the transactions so far left it
	groups
	tx  *Tx    // the transaction that runs
	txs uint64 // numbers transactions and savepoints
	spilling
	schemaState
	epochs uint64 // see Epoch
	scratch
}

// spilling is the state of a transaction that has more pages than memory may hold.
type spilling struct {
	held    int              // pages that it has in memory
	hand    uint32           // the page where the next spill begins
	tail    wal.Tail         // the frames that it spilled, in WAL mode
	journal *journal.Journal // the originals of the pages that it spilled, in rollback mode
	spilled pageset.Set      // the numbers of these pages
}

// schemaState is the writing side of a schema, kept from one transaction to the next.
type schemaState struct {
	freelist btree.Freelist
	schemaOf *Schema // that freelist is for
}

// scratch is memory that one transaction uses after the other.
type scratch struct {
	view      Snapshot   // that the transaction sees
	cache     pageCache  // of view
	outermost savepoint  // of the transaction
	undo      []undoPage // empty
}

// init prepares a writer that was just made.
func (w *writer) init(c *core) {
	w.core = c
	w.writeLock, w.commitLock = make(chan struct{}, 1), make(chan struct{}, 1)
	w.writeLock <- struct{}{}
	w.commitLock <- struct{}{}
	w.open, w.clock = new(group), 1
}

// takeJournal returns the journal of the transaction that has spilled, if one has, which is from
// now on the caller's.
func (w *writer) takeJournal() *journal.Journal {
	j := w.journal
	w.journal, w.spilled = nil, pageset.Set{}
	return j
}

// newest returns the group with the last transaction that waits to be committed, nil if none does.
func (w *writer) newest() *group {
	if w.open.count > 0 {
		return w.open
	}
	return w.flight
}

// lendWriteLock lets transactions run while fn writes g. The caller must hold the write lock before
// and after, even if fn panics.
func (w *writer) lendWriteLock(g *group, fn func()) {
	g.writing.Add(1)
	w.writeLock <- struct{}{}
	defer func() { <-w.writeLock }()
	defer g.writing.Done()
	fn()
}

// seal closes the open group, with its pages in order.
func (w *writer) seal() *group {
	g := w.open
	slices.Sort(g.pgnos)
	g.pgnos = slices.Compact(g.pgnos) // a page that the database lost and got again is there twice
	g.pages = slices.Grow(g.pages, len(g.pgnos))
	for _, pgno := range g.pgnos {
		if p := w.pages.Get(pgno); p != nil { // else the database has lost it
			g.pages = append(g.pages, wal.Page{Pgno: pgno, Data: p.data})
		}
	}
	g.size, g.tail = w.size, w.tail
	w.tail = wal.Tail{}
	w.reopen()
	return g
}

// reopen opens the next group.
func (w *writer) reopen() {
	w.open, w.spare = w.spare, nil
	if w.open == nil {
		w.open = new(group)
	}
}

// retire keeps a group that is over to be used again, if only its caller knows of it: no page is of
// it any more.
func (w *writer) retire(g *group) {
	if g.count > 1 || g.done != nil || len(g.calls) > 0 || w.pages.Count > 0 || w.tx != nil || cap(g.pgnos) > keptPages {
		return
	}
	clear(g.pages)
	*g = group{pgnos: g.pgnos[:0], pages: g.pages[:0]}
	w.spare = g
}

// cacheGroup moves the pages of a group that is committed to the recent pages.
func (w *writer) cacheGroup(g *group) {
	if g.size < w.base.PageCount {
		w.recent.pages.Clear()
	}
	idle := w.tx == nil
	for _, p := range g.pages {
		have := w.pages.Get(p.Pgno)
		if have != nil && have.group == g {
			w.pages.Drop(p.Pgno)
		} else { // a later transaction has taken it
			have = &dirtyPage{data: p.Data}
		}
		w.recent.put(p.Pgno, have, idle)
	}
}

// drop forgets all pages that wait, as the group that they build on has failed (G4). A transaction
// that runs cannot be kept any more.
func (w *writer) drop(err error) {
	w.pages.Clear()
	w.recent.pages.Clear()
	w.epochs++
	w.changedAll()
	if w.tx != nil {
		w.tx.lost = err
		for s := w.tx.level; s != nil; s = s.outer {
			s.spoiled, s.undo = err, nil
		}
	}
	w.open.err, w.open.over = err, true
	w.open.wake()
	w.reopen()
}

// spilledTo returns the last frame that was spilled and is not committed yet; 0 if there is none.
func (w *writer) spilledTo() uint32 {
	if w.tail.Last == 0 && w.flight != nil {
		return w.flight.tail.Last
	}
	return w.tail.Last
}

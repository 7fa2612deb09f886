package pager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
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
	base  *Snapshot // the state that pages lie over; the writer is one of its readers. nil while no page waits
	pages pageset.Table[dirtyPage]
	state // of the database, as the transactions so far left it
	groups
	tx  *Tx    // the transaction that runs
	txs uint64 // numbers transactions and savepoints
	spilling
	schemaState
	epochs uint64 // see Epoch
	changes
	recent recentPages // pages that were committed last
	scratch
}

// turns say which goroutine runs a transaction, and which one commits a group.
type turns struct {
	writeLock  chan struct{} // holds one token; its holder runs a transaction
	commitLock chan struct{} // holds one token; its holder commits a group
	callers    atomic.Int64  // how many calls are in Update
	queue      callQueue     // the calls that wait for the write lock
	runs       atomic.Uint64 // how many transactions have begun or ended: odd while one runs
	budget     waitBudget    // of the locks that the holder of the write lock waits for
}

// groups are the transactions that wait to be committed.
type groups struct {
	open   *group
	flight *group // the sealed group that is being committed
	spare  *group // to be used again
	seen   uint64 // the version that this writer committed last
}

// spilling is the state of a transaction that has more pages than memory may hold.
type spilling struct {
	held    int         // pages that it has in memory
	hand    uint32      // the page where the next spill begins
	tail    wal.Tail    // the frames that it spilled, in WAL mode
	journal *journal    // the originals of the pages that it spilled, in rollback mode
	spilled pageset.Set // the numbers of these pages
}

// schemaState is the writing side of a schema, kept from one transaction to the next.
type schemaState struct {
	freelist btree.Freelist
	kit      any     // see Tx.Kit
	schemaOf *Schema // that kit and freelist are for
}

// scratch is memory that one transaction uses after the other.
type scratch struct {
	view      Snapshot   // that the transaction sees
	cache     pageCache  // of view
	outermost savepoint  // of the transaction
	undo      []undoPage // empty
}

// A committer runs the write transactions of a pager, and commits them in groups.
type committer struct {
	pager  *Pager
	looked time.Time // when the files were looked at last
}

// A state is where a transaction begins, besides the pages.
type state struct {
	size   uint32 // pages of the database
	header format.Header
	schema *Schema
}

// A dirtyPage is a page as a transaction left it.
type dirtyPage struct {
	data  []byte
	tx    uint64 // the transaction that may change it, or noTransaction
	group *group
	next  *dirtyPage // of recentPages.spare
}

// A group is the transactions that are committed at once.
type group struct {
	pgnos   []uint32          // once sealed, in order and each once
	count   int               // of transactions
	reserve bool              // one of them removes only: see UseReserve
	unknown bool              // one of them is not marked: see MarkKnown
	synced  bool              // one of them needs a sync: see RequireSync
	ctxs    []context.Context // of these, in rollback mode, where a commit waits for readers

	// Once sealed:
	pages []wal.Page
	size  uint32   // of the database
	tail  wal.Tail // the frames that its only transaction spilled

	header format.WALIndexHeader // once it is in the log

	writing sync.WaitGroup // while the write lock is lent, until next, err and unread are there
	next    *Snapshot      // that has it
	calls   []*call        // over when it is
	done    chan struct{}  // closed when the other transactions behind the first may go; nil if there are none
	err     error          // it is not committed
	unread  error          // it is committed, but the database cannot be read as it is now: there is no next
	over    bool           // conclude was here
}

// broken returns why nothing can be built on the group.
func (g *group) broken() error { return cmp.Or(g.err, g.unread) }

// wake lets the transactions behind the first go. The first looks at over.
func (g *group) wake() {
	for _, e := range g.calls {
		e.err = cmp.Or(g.err, e.err)
		e.over <- struct{}{}
	}
	if g.done != nil {
		close(g.done)
	}
}

// find returns the page as the transactions so far left it, or nil if they did not touch it lately.
func (w *writer) find(pgno uint32) []byte {
	p := w.pages.Get(pgno)
	if p == nil {
		p = w.recent.pages.Get(pgno)
	}
	if p == nil {
		return nil
	}
	return p.data
}

// init prepares a writer that was just made.
func (w *writer) init() {
	w.writeLock, w.commitLock = make(chan struct{}, 1), make(chan struct{}, 1)
	w.writeLock <- struct{}{}
	w.commitLock <- struct{}{}
	w.open, w.clock = new(group), 1
}

// Update does work in a write transaction, which begins in tx. The caller provides tx, with its Rx,
// so that a transaction is one piece of memory. The rest is as package
// sqlitefile says of DB.Update.
func (p *Pager) Update(ctx context.Context, tx *Tx, work Work) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &p.writer
	w.callers.Add(1)
	defer w.callers.Add(-1)
	select {
	case <-w.writeLock:
		return dberr.Explain(p.commits.run(ctx, tx, work))
	default:
		return dberr.Explain(p.commits.enqueue(ctx, tx, work))
	}
}

// run does work in the write lock that the caller has, and returns once it is committed.
func (c *committer) run(ctx context.Context, tx *Tx, work Work) error {
	return c.await(c.runOne(ctx, tx, work))
}

// await returns once the group is committed that a caller waits for, and commits it if the caller
// is the first of it.
func (c *committer) await(g *group, done chan struct{}, err error) error {
	switch {
	case g == nil:
		return err
	case done == nil:
		if c.pager.writer.callers.Load() > 1 {
			runtime.Gosched() // goroutines that are ready to write join g
		}
		return c.lead(g)
	}
	<-done
	return cmp.Or(g.err, err)
}

// runOne does work, gives up the write lock, and returns the group that its caller waits for, nil
// if there is none, and a channel that is closed when the group is committed, nil for its first.
func (c *committer) runOne(ctx context.Context, tx *Tx, work Work) (g *group, done chan struct{}, err error) {
	defer func() { c.pager.writer.writeLock <- struct{}{} }()
	return follower(c.transact(ctx, tx, work))
}

// follower adds the channel that is closed when a group is committed, nil for its first
// transaction.
func follower(g *group, first bool, err error) (*group, chan struct{}, error) {
	if g == nil || first {
		return g, nil, err
	}
	if g.done == nil {
		g.done = make(chan struct{})
	}
	return g, g.done, err
}

// transact does work and returns the group that its caller waits for, nil if there is none, and
// whether it is the first of it, who commits it. One that has failed or changed nothing waits, too,
// if the state that it has seen is not committed yet: its result would not be true if that failed.
// The caller must hold the write lock.
func (c *committer) transact(ctx context.Context, tx *Tx, work Work) (g *group, first bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	c.flushSpilled()
	if err := c.prepare(ctx); err != nil {
		return nil, false, err
	}
	defer c.releaseIfIdle()
	c.pager.writer.begin(c.pager, tx)
	defer tx.end()
	return c.keep(tx, tx.call(ctx, work))
}

// keep keeps a transaction that has run, unless it has failed, and returns the results of transact.
func (c *committer) keep(tx *Tx, err error) (g *group, first bool, _ error) {
	if err == nil {
		g, err = tx.keep()
	}
	switch {
	case g != nil:
		return g, g.count == 1, nil
	case tx.lost != nil:
		return nil, false, tx.lost
	}
	return c.pager.writer.newest(), false, err
}

// newest returns the group with the last transaction that waits to be committed, nil if none does.
func (w *writer) newest() *group {
	if w.open.count > 0 {
		return w.open
	}
	return w.flight
}

// prepare makes this process the writer of the database, unless it is already, and fixes the state
// that the next transaction begins from.
func (c *committer) prepare(ctx context.Context) error {
	w := &c.pager.writer
	if w.base != nil {
		return nil
	}
	if err := c.pager.failure(); err != nil {
		return err
	}
	if c.pager.options.ReadOnly {
		return c.pager.PathError("update", dberr.ErrReadOnly)
	}
	w.budget.waited.Store(0)
	return c.pager.retryWriter(ctx, func() error {
		s, err := c.claim(ctx)
		if err != nil {
			return err
		}
		if w.seen != s.Version {
			w.epochs++ // another connection has written
			w.recent.pages.Clear()
		}
		w.base, w.state = s, state{s.PageCount, s.Header, s.Schema}
		return nil
	})
}

// lockWriter makes this process the writer of the database, which is still as in s. ErrLocked means
// to try again.
func (c *committer) lockWriter(s *Snapshot) error {
	if v := s.Header.WriteVersion; v > format.VersionWAL {
		return c.pager.PathError("update", fmt.Errorf("%w: its header asks for version %d of the file format to write", dberr.ErrReadOnly, v))
	}
	if s.wal == nil {
		return c.pager.locks.lockReserved() // the database cannot have changed, as s has SHARED
	}
	if s.wal.Denied != nil {
		return c.pager.PathError("update", s.wal.ReadOnly())
	}
	if err := s.wal.Index.Lock(osfile.Exclusive, format.WALWriteLock, 1); err != nil {
		return err
	}
	err := dberr.Guard(func() error {
		if !s.wal.Index.Same(&s.words) {
			return osfile.ErrLocked
		}
		s.wal.Index.Repair(&s.words)
		return nil
	})
	if err != nil {
		c.unlockWriter(s)
	}
	return err
}

func (c *committer) unlockWriter(s *Snapshot) {
	if s.wal == nil {
		_ = c.pager.locks.toShared() // fails only with the file
	} else {
		s.wal.Index.Unlock(format.WALWriteLock, 1)
	}
}

// releaseIfIdle stops being the writer if no page waits (G5).
func (c *committer) releaseIfIdle() {
	w := &c.pager.writer
	if w.base == nil || w.pages.Count > 0 || w.tx != nil {
		return
	}
	c.unlockWriter(w.base)
	w.base.lease.Leave()
	w.base = nil
}

// lead commits g, unless a transaction that had to spill did meanwhile. The caller is the first of
// g.
func (c *committer) lead(g *group) error {
	w := &c.pager.writer
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
	w := &c.pager.writer
	if w.base.wal == nil || crowded(w.base.wal, w.base.words[4]) { // no transaction may go on meanwhile: the log must restart
		c.flush()
		return
	}
	sealed, base := w.seal(), w.base
	w.flight = sealed
	defer c.publish(sealed)
	w.lendWriteLock(sealed, func() { c.write(base, sealed) })
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

// flush commits the open group. The caller must hold the write lock, and no transaction runs and no
// group is on its way: it holds the commit lock, too, or the open group has spilled.
func (c *committer) flush() { c.finish(c.pager.writer.seal()) }

// finish writes a sealed group and concludes it. The caller must hold the locks that flush
// requires.
func (c *committer) finish(g *group) {
	defer c.publish(g)
	c.write(c.pager.writer.base, g)
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

// errUnfinished is the error of a group during whose commit something panicked.
var errUnfinished = errors.New("the commit was not finished")

// write commits a group, and looks at the database as it is then. The caller concludes it even if
// Options.Trace panics.
func (c *committer) write(base *Snapshot, g *group) {
	start := c.pager.clock()
	g.err = errUnfinished
	err := c.pager.failure()
	if err == nil {
		err = c.writeGroup(base, g)
	}
	g.err = err
	switch {
	case err == nil:
		c.pager.tally.groups.Add(1)
		c.pager.tally.transactions.Add(uint64(g.count))
		g.unread = errUnfinished
		g.next, g.unread = c.follow(base, g)
	case base.wal == nil: // the caller holds the write lock: no other transaction spills meanwhile
		c.abandon()
	}
	c.pager.trace(Event{Kind: EventCommit, Start: start, Transactions: g.count, Pages: len(g.pages), Err: g.err})
}

func (c *committer) writeGroup(base *Snapshot, g *group) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := c.pager.room.ensureRoom(base, g); err != nil {
		return err
	}
	if base.wal == nil {
		return c.pager.rollback.commitFile(base, g.pages, g.size, g.ctxs...)
	}
	err = c.writeLog(base.wal, base, g)
	if err != nil && g.reserve && g.tail.Last == 0 && c.pager.room.lendLog(base.wal, err) {
		err = c.writeLog(base.wal, base, g)
	}
	return err
}

// follow returns the snapshot of the state that was just committed, with the caller as a reader.
func (c *committer) follow(base *Snapshot, g *group) (next *Snapshot, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if base.wal == nil {
		return c.pager.rollback.handOver(base)
	}
	if g.tail.Last != 0 {
		return c.republish()
	}
	return c.pager.readers.advance(base, &g.header, g.pages)
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
	if err := (&Rx{Snapshot: base, pager: c.pager}).Unreplaced(); err != nil {
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
	synced := g.synced || c.pager.options.Durability <= DurabilityExtra
	look := synced || c.lookDue()
	if look {
		if err := c.pager.whole(log, t.Last); err != nil {
			return err
		}
	}
	pages := g.pages
	for ; len(pages) > batchFrames; pages = pages[batchFrames:] {
		if err := log.AppendTail(t, pages[:batchFrames], 0, c.pager.syncStart); err != nil {
			return err
		}
	}
	if err := log.AppendTail(t, pages, g.size, c.pager.syncStart); err != nil {
		return err
	}
	if err := log.Reseal(t); err != nil {
		return err
	}
	if synced {
		log.Synced = true // it grows in steps from now on
		if err := log.SyncBy(c.pager.sync); err != nil {
			return err
		}
	}
	if look {
		return c.pager.stillInPlace(log.Files(c.pager.file)...) // the log has a commit that is none
	}
	return nil
}

// publish lets the transactions of g go, and lets the next ones begin from the state that is
// committed now. The caller must hold the write lock.
func (c *committer) publish(g *group) {
	w := &c.pager.writer
	if g.over {
		return
	}
	g.over, w.flight = true, nil
	defer g.wake()
	defer c.releaseIfIdle()
	if err := g.broken(); err != nil {
		w.drop(err)
		c.pager.checkpoints.checkpointFull(w.base, err)
	} else {
		w.base.lease.Leave()
		w.cacheGroup(g)
		w.base, w.seen = g.next, g.next.Version
		if log := g.next.wal; log != nil {
			_ = dberr.Guard(func() error { return c.pager.checkpoints.checkpointIfDue(log, g.next.words[4]) }) // the group is committed all the same; the next commit tries again
		}
	}
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

// republish makes the snapshot of the state that is committed now, with the caller as a reader. It
// holds WRITE, so that other connections are in the way only for the moment in which they move a
// read mark. A commit must not fail by that, whatever BusyTimeout says, for it is done.
func (c *committer) republish() (s *Snapshot, err error) {
	budget := waitBudget{timeout: max(c.pager.options.BusyTimeout, markPatience)}
	err = c.pager.retryWith(context.Background(), &budget, func() error {
		c.pager.mu.Lock()
		defer c.pager.mu.Unlock()
		s, err = c.pager.readers.acquireLog()
		return err
	})
	return s, err
}

// markPatience is as long as SQLite waits for connections that move read marks.
const markPatience = 10 * time.Second

// sync syncs a file, unless durability is DurabilityOff.
func (p *Pager) sync(f osfile.Handle) error {
	if p.options.Durability == DurabilityOff {
		return nil
	}
	return p.mustSync(f)
}

// mustSync syncs a file. After a failure the content of the disk is not known: the database refuses
// all further writes until it is opened again.
func (p *Pager) mustSync(f osfile.Handle) error {
	return p.synced(p.PathError("sync", f.Sync()))
}

// syncDir makes it durable that there is a file of that name, or none. A failure is one of
// mustSync. A directory that cannot be opened is not synced, as in SQLite.
func (p *Pager) syncDir(name string) error {
	err := p.options.System.SyncDir(name)
	if errors.Is(err, osfile.ErrNotOpened) {
		return nil
	}
	return p.synced(err)
}

// synced passes on the result of a sync, and ends writing if it has failed.
func (p *Pager) synced(err error) error {
	if err == nil {
		return nil
	}
	p.fail(err)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: pe.Op, Path: pe.Path, Err: syncError{pe.Err}}
	}
	return syncError{err}
}

// syncStart syncs a log that restarts, so that its first frames are never taken for frames of the
// log before (W4).
func (p *Pager) syncStart(f osfile.Handle) error { return p.sync(f) }

// retryWriter is retry for the holder of the write lock: all its waits, from the lock of a writer
// to the end of the commit, take BusyTimeout at most.
func (p *Pager) retryWriter(ctx context.Context, fn func() error) error {
	return p.retryWith(ctx, &p.writer.budget, fn)
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

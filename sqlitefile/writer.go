package sqlitefile

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A writer is where the write transactions of a DB run, one after the other, and where their pages wait to be written.
//
// Transactions that come together are committed together. One that has run joins the open group and may be followed at once by the next, which
// sees its pages though they are not on disk yet; neither is acknowledged before its group is. The first of a group seals it
// and commits it for all, while the next one fills.
//
// Invariants:
//
//	G1  Only the holder of the turn changes pages, size and the open group; only the holder of the press commits a group, but
//	    for what has to be committed before a transaction spills, or after one has (S2).
//	G2  A page of a sealed group is never changed: who wants to, changes a copy.
//	G3  A page that a transaction takes for the first time is kept in its undo until it ends, so that rolling back
//	    puts every page back.
//	G4  A group that fails takes with it everything that was built on it: the pages are dropped and all who wait get its error. One that is
//	    committed never fails, whatever happens after it; if the database cannot be read then, only what was built on it fails.
//	G5  While any page waits, this process holds the lock of a writer.
type writer struct {
	turn  chan struct{} // holds one token; whoever has it runs a transaction
	press chan struct{} // holds one token; whoever has it commits a group
	crowd atomic.Int64  // how many are in Update

	errands errands // that wait for a turn

	// What follows belongs to the holder of the turn.
	base   *snapshot // what pages lie over; the writer is one of its readers. nil while no page waits
	pages  pageTable
	state  // of the database, as the transactions so far left it
	open   *group
	flight *group // the sealed one that is being committed

	tx      *Tx      // the one that runs
	held    int      // pages that it has in memory
	hand    uint32   // where the next spill begins
	tail    logTail  // what it spilled, in WAL mode
	journal *journal // what it spilled, in rollback mode: the originals
	spilled pageSet  // and which pages
	txs     uint64   // numbers transactions and savepoints

	// The writing side of the schema, kept from one transaction to the next.
	freelist  freelist
	epochs    uint64 // see pageStore.epoch
	seen      uint64 // the version that this writer committed last
	kit       *kit
	shelf     shelf
	view      snapshot  // what the transaction that runs sees
	cache     pageCache // of it
	outermost savepoint // of it

	budget waitBudget // of the locks that its holder waits for

	// To be used again:
	undo       []undoPage // empty
	spareGroup *group
}

// A state is what a transaction begins from, besides the pages.
type state struct {
	size   uint32 // pages of the database
	header format.Header
	schema *schema
}

// A dirtyPage is a page as a transaction left it.
type dirtyPage struct {
	data  []byte
	tx    uint64 // the transaction that may change it, or nobody
	group *group
	next  *dirtyPage // of shelf.spare
}

// A group is what is committed at once.
type group struct {
	pgnos   []uint32          // once sealed, in order and each once
	count   int               // of transactions
	reserve bool              // one of them removes only: see UseReserve
	ctxs    []context.Context // of these, in rollback mode, where a commit waits for readers

	// Once sealed:
	pages []framePage
	size  uint32  // of the database
	tail  logTail // what its only transaction spilled

	header format.WALIndexHeader // once it is in the log

	writing sync.WaitGroup // while the turn is lent, until next, err and unread are there
	next    *snapshot      // that has it
	errands []*errand      // over when it is
	done    chan struct{}  // closed when the other transactions behind the first may go; nil if there are none
	err     error          // it is not committed
	unread  error          // it is committed, but what the database is now cannot be read: there is no next
	over    bool           // conclude was here
}

// broken returns why nothing can be built on the group.
func (g *group) broken() error { return cmp.Or(g.err, g.unread) }

// letGo lets the transactions behind the first go. The first looks at over.
func (g *group) letGo() {
	for _, e := range g.errands {
		e.err = cmp.Or(g.err, e.err)
		e.over <- struct{}{}
	}
	if g.done != nil {
		close(g.done)
	}
}

// find returns the page as the transactions so far left it, or nil if they did not touch it lately.
func (w *writer) find(pgno uint32) []byte {
	p := w.pages.get(pgno)
	if p == nil {
		p = w.shelf.pages.get(pgno)
	}
	if p == nil {
		return nil
	}
	return p.data
}

// init prepares a writer that was just made.
func (w *writer) init() {
	w.turn, w.press = make(chan struct{}, 1), make(chan struct{}, 1)
	w.turn <- struct{}{}
	w.press <- struct{}{}
	w.open = new(group)
}

// Update calls fn with a transaction that may change the database. If fn returns nil, everything that it did is committed, and has
// survived what Options.Durability says when Update returns nil; if fn fails or panics, or ctx is cancelled meanwhile, nothing of it has happened.
// One transaction runs at a time; others wait for their turn until their ctx is cancelled, one within fn for ever. The fn of one that had to wait
// runs on a goroutine of the DB's; if it panics or ends that by runtime.Goexit, its caller does. fn must not wait for another Update to return: that may wait
// for the end of fn.
//
// Once fn has returned and the commit has begun, ctx matters only while readers of a database in rollback mode keep it waiting, and only if the ctx
// of every transaction of the same commit is cancelled. An error of ctx always means that nothing has happened.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	w := &db.writer
	w.crowd.Add(1)
	defer w.crowd.Add(-1)
	select {
	case <-w.turn:
		return explain(db.run(ctx, fn))
	default:
		return explain(db.send(ctx, fn))
	}
}

// take takes a token, unless ctx is cancelled first.
func take(ctx context.Context, token chan struct{}) error {
	select {
	case <-token:
		return nil
	default:
	}
	select {
	case <-token:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs fn in the turn that the caller has, and returns once it is committed.
func (db *DB) run(ctx context.Context, fn func(tx *Tx) error) error {
	return db.await(db.runTurn(ctx, fn))
}

// await returns once the group is committed that a caller waits for, and commits it if the caller
// is the first of it.
func (db *DB) await(g *group, done chan struct{}, err error) error {
	switch {
	case g == nil:
		return err
	case done == nil:
		if db.writer.crowd.Load() > 1 {
			runtime.Gosched() // whoever is ready to write joins g
		}
		return db.lead(g)
	}
	<-done
	return cmp.Or(g.err, err)
}

// runTurn runs fn, gives up the turn, and returns the group that its caller waits for, nil if there is none, and what is closed when that is committed,
// nil for the first of it.
func (db *DB) runTurn(ctx context.Context, fn func(tx *Tx) error) (g *group, done chan struct{}, err error) {
	defer func() { db.writer.turn <- struct{}{} }()
	return follower(db.transact(ctx, fn))
}

// follower adds what is closed when a group is committed, nil for the first of it.
func follower(g *group, first bool, err error) (*group, chan struct{}, error) {
	if g == nil || first {
		return g, nil, err
	}
	if g.done == nil {
		g.done = make(chan struct{})
	}
	return g, g.done, err
}

// transact runs fn and returns the group that its caller waits for, nil if there is none, and whether it is the first of it, who commits it. One that
// has failed or changed nothing waits, too, if what it has seen is not committed yet: what it says would not be true if that failed. The caller has the
// turn.
func (db *DB) transact(ctx context.Context, fn func(tx *Tx) error) (g *group, first bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	db.landSpilled()
	if err := db.prepare(ctx); err != nil {
		return nil, false, err
	}
	defer db.disperse()
	tx := db.writer.begin(db)
	defer tx.end()
	return db.keep(tx, tx.call(ctx, fn))
}

// keep keeps a transaction that has run, unless it has failed, and returns what transact does.
func (db *DB) keep(tx *Tx, err error) (g *group, first bool, _ error) {
	if err == nil {
		g, err = tx.keep()
	}
	switch {
	case g != nil:
		return g, g.count == 1, nil
	case tx.lost != nil:
		return nil, false, tx.lost
	}
	return db.writer.newest(), false, err
}

// newest returns the group with the last transaction that waits to be committed, nil if none does.
func (w *writer) newest() *group {
	if w.open.count > 0 {
		return w.open
	}
	return w.flight
}

// prepare makes this process the writer of the database, unless it is already, and fixes what the next transaction
// begins from.
func (db *DB) prepare(ctx context.Context) error {
	w := &db.writer
	if w.base != nil {
		return nil
	}
	if err := db.failure(); err != nil {
		return err
	}
	if db.options.ReadOnly {
		return db.pathError("update", ErrReadOnly)
	}
	w.budget.waited.Store(0)
	return db.retryWriter(ctx, func() error {
		s, err := db.claim(ctx)
		if err != nil {
			return err
		}
		if w.seen != s.version {
			w.epochs++ // somebody else wrote
			w.shelf.pages.clear()
		}
		w.base, w.state = s, state{s.pages, s.header, s.schema}
		return nil
	})
}

// lockWriter makes this process the writer of the database, which is still as in s. ErrLocked means to try again.
func (db *DB) lockWriter(s *snapshot) error {
	if s.wal == nil {
		return db.lockReserved() // nobody can have changed anything, as s has SHARED
	}
	if s.wal.denied != nil {
		return db.pathError("update", s.wal.readOnly())
	}
	if err := s.wal.index.lock(osfile.Exclusive, format.WALWriteLock, 1); err != nil {
		return err
	}
	err := guard(func() error {
		if !s.wal.index.same(&s.words) {
			return osfile.ErrLocked
		}
		s.wal.index.mend(&s.words)
		return nil
	})
	if err != nil {
		db.unlockWriter(s)
	}
	return err
}

func (db *DB) unlockWriter(s *snapshot) {
	if s.wal == nil {
		_ = db.toShared() // fails only with the file
	} else {
		s.wal.index.unlock(format.WALWriteLock, 1)
	}
}

// disperse stops being the writer if no page waits.
func (db *DB) disperse() {
	w := &db.writer
	if w.base == nil || w.pages.count > 0 || w.tx != nil {
		return
	}
	db.unlockWriter(w.base)
	w.base.lease.leave()
	w.base = nil
}

// lead commits g, unless a transaction that had to spill did meanwhile. The caller is the first of g.
func (db *DB) lead(g *group) error {
	w := &db.writer
	<-w.press
	defer func() { w.press <- struct{}{} }()
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	if !g.over {
		db.commit()
	}
	err := g.err
	w.retire(g)
	return err
}

// commit commits the open group. The caller holds the press and the turn, and lends this to others where that is good.
func (db *DB) commit() {
	w := &db.writer
	if w.base.wal == nil || w.base.wal.crowded(w.base.words[4]) { // nobody may go on meanwhile: the log is to begin anew
		db.flush()
		return
	}
	sealed, base := w.seal(), w.base
	w.flight = sealed
	defer db.conclude(sealed)
	w.lendTurn(sealed, func() { db.write(base, sealed) })
}

// lendTurn lets transactions run while fn writes g. The caller has the turn before and after, even if fn panics.
func (w *writer) lendTurn(g *group, fn func()) {
	g.writing.Add(1)
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	defer g.writing.Done()
	fn()
}

// flush commits the open group. The caller holds the turn, and no transaction runs and no group is on its way: it holds the press, too, or the open
// group has spilled.
func (db *DB) flush() { db.finish(db.writer.seal()) }

// finish writes a sealed group and concludes it. The caller is as that of flush.
func (db *DB) finish(g *group) {
	defer db.conclude(g)
	db.write(db.writer.base, g)
}

// seal closes the open group, with its pages in order.
func (w *writer) seal() *group {
	g := w.open
	slices.Sort(g.pgnos)
	g.pgnos = slices.Compact(g.pgnos) // a page that the database lost and got again is there twice
	g.pages = slices.Grow(g.pages, len(g.pgnos))
	for _, pgno := range g.pgnos {
		if p := w.pages.get(pgno); p != nil { // else the database has lost it
			g.pages = append(g.pages, framePage{pgno, p.data})
		}
	}
	g.size, g.tail = w.size, w.tail
	w.tail = logTail{}
	w.reopen()
	return g
}

// reopen opens the next group.
func (w *writer) reopen() {
	w.open, w.spareGroup = w.spareGroup, nil
	if w.open == nil {
		w.open = new(group)
	}
}

// retire keeps a group that is over to be used again, if only its caller knows of it: no page is of it any more.
func (w *writer) retire(g *group) {
	if g.count > 1 || g.done != nil || len(g.errands) > 0 || w.pages.count > 0 || w.tx != nil || cap(g.pgnos) > keptPages {
		return
	}
	clear(g.pages)
	*g = group{pgnos: g.pgnos[:0], pages: g.pages[:0]}
	w.spareGroup = g
}

// errUnfinished is what becomes of a group while whose commit something panicked.
var errUnfinished = errors.New("the commit was not finished")

// write commits a group, and looks at the database as it is then. The caller concludes it even if Options.Trace panics.
func (db *DB) write(base *snapshot, g *group) {
	start := db.clock()
	g.err = errUnfinished
	err := db.failure()
	if err == nil {
		err = db.writeGroup(base, g)
	}
	g.err = err
	switch {
	case err == nil:
		db.tally.groups.Add(1)
		db.tally.transactions.Add(uint64(g.count))
		g.unread = errUnfinished
		g.next, g.unread = db.follow(base, g)
	case base.wal == nil: // the caller holds the turn: no other transaction spills meanwhile
		db.abandon()
	}
	db.trace(Event{Kind: EventCommit, Start: start, Transactions: g.count, Pages: len(g.pages), Err: g.err})
}

func (db *DB) writeGroup(base *snapshot, g *group) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := db.ensureRoom(base, g); err != nil {
		return err
	}
	if base.wal == nil {
		return db.commitFile(base, g.pages, g.size, g.ctxs...)
	}
	err = db.writeLog(base.wal, base, g)
	if err != nil && g.reserve && g.tail.last == 0 && db.lendLog(base.wal, err) {
		err = db.writeLog(base.wal, base, g)
	}
	return err
}

// follow returns the snapshot of what was just committed, with the caller as a reader.
func (db *DB) follow(base *snapshot, g *group) (next *snapshot, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if base.wal == nil {
		return db.handOver(base)
	}
	if g.tail.last != 0 {
		return db.republish()
	}
	return db.advance(base, &g.header, g.pages)
}

// logEnd returns the header of the index where the next frame goes, after beginning the log anew if that is due.
func (db *DB) logEnd(base *snapshot) (h format.WALIndexHeader, err error) {
	if h, err = base.wal.header(); err != nil || base.lease.slot != 0 {
		return h, err
	}
	_, err = base.wal.restart(&h)
	return h, err
}

// writeLog appends a group to the log and tells everybody.
func (db *DB) writeLog(log *wal, base *snapshot, g *group) error {
	t := g.tail
	if t.last == 0 {
		h, err := db.logEnd(base)
		if err != nil {
			return err
		}
		t = logTail{header: h, last: h.MaxFrame, sum: h.Frame}
	}
	h := &t.header
	if err := db.appendGroup(log, &t, g); err != nil {
		return join(err, log.index.forget(h.MaxFrame))
	}
	h.MaxFrame, h.PageCount, h.Frame = t.last, g.size, t.sum
	h.Change++
	g.header = *h
	return log.index.store(h)
}

// appendGroup appends a group behind t, and syncs it if durability asks for that. A log that others have cut off or taken away is not
// one to commit to.
func (db *DB) appendGroup(log *wal, t *logTail, g *group) error {
	look := db.lookDue()
	if look {
		if err := db.whole(log, t.last); err != nil {
			return err
		}
	}
	pages := g.pages
	for ; len(pages) > batchFrames; pages = pages[batchFrames:] {
		if err := log.appendTail(t, pages[:batchFrames], 0, db.syncStart); err != nil {
			return err
		}
	}
	if err := log.appendTail(t, pages, g.size, db.syncStart); err != nil {
		return err
	}
	if err := log.reseal(t); err != nil {
		return err
	}
	if db.options.Durability <= Extra {
		if err := log.syncBy(db.sync); err != nil {
			return err
		}
	}
	if look {
		if err := db.inPlace(log.files(db.file)...); err != nil {
			return db.stop(err) // the log has a commit that is none
		}
	}
	return nil
}

// conclude lets the transactions of g go, and the next ones begin from what is committed now. The caller holds the turn.
func (db *DB) conclude(g *group) {
	w := &db.writer
	if g.over {
		return
	}
	g.over, w.flight = true, nil
	defer g.letGo()
	defer db.disperse()
	if err := g.broken(); err != nil {
		w.drop(err)
		db.relieveFull(w.base, err)
	} else {
		w.base.lease.leave()
		w.settle(g)
		w.base, w.seen = g.next, g.next.version
		if log := g.next.wal; log != nil {
			_ = guard(func() error { return db.tend(log, g.next.words[4]) }) // what was committed is; the next commit tries again
		}
	}
}

// settle moves the pages of a group that is committed to the shelf.
func (w *writer) settle(g *group) {
	if g.size < w.base.pages {
		w.shelf.pages.clear()
	}
	idle := w.tx == nil
	for _, p := range g.pages {
		have := w.pages.get(p.pgno)
		if have != nil && have.group == g {
			w.pages.drop(p.pgno)
		} else { // a later transaction has taken it
			have = &dirtyPage{data: p.data}
		}
		w.shelf.put(p.pgno, have, idle)
	}
}

// drop forgets all pages that wait, as what they build on has failed (G4). A transaction that runs cannot be kept any more.
func (w *writer) drop(err error) {
	w.pages.clear()
	w.shelf.pages.clear()
	w.epochs++
	if w.tx != nil {
		w.tx.lost = err
		for s := w.tx.level; s != nil; s = s.outer {
			s.spoiled, s.undo = err, nil
		}
	}
	w.open.err, w.open.over = err, true
	w.open.letGo()
	w.reopen()
}

// republish makes the snapshot of what is committed now, with the caller as a reader. It holds WRITE, so that others are in the way only
// for the moment in which they move a read mark. A commit must not fail by that, whatever BusyTimeout says, for it is done.
func (db *DB) republish() (s *snapshot, err error) {
	p := waitBudget{timeout: max(db.options.BusyTimeout, markPatience)}
	err = db.retryWith(context.Background(), &p, func() error {
		db.mu.Lock()
		defer db.mu.Unlock()
		s, err = db.acquireLog()
		return err
	})
	return s, err
}

// markPatience is as long as SQLite waits for others who move read marks.
const markPatience = 10 * time.Second

// sync syncs a file, unless durability is Off.
func (db *DB) sync(f osfile.Handle) error {
	if db.options.Durability == Off {
		return nil
	}
	return db.mustSync(f)
}

// mustSync syncs a file. After a failure nobody knows what is on disk: the database refuses all further writes until it is opened
// again.
func (db *DB) mustSync(f osfile.Handle) error {
	err := f.Sync()
	if err != nil {
		err = db.pathError("sync", err)
		db.fail(err)
	}
	return err
}

// syncDir makes it durable that there is a file of that name, or none. A failure is one of sync.
func (db *DB) syncDir(name string) error {
	err := db.options.system.SyncDir(name)
	if err != nil {
		db.fail(err)
	}
	return err
}

// syncStart syncs a log that begins anew, so that its first frames are never taken for those of the log before (W4).
func (db *DB) syncStart(f osfile.Handle) error { return db.sync(f) }

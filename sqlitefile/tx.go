package sqlitefile

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/osfile"
)

// A Tx is a write transaction: a snapshot that it can change, and that sees its own changes. It is valid until the function given to
// Update returns, and belongs to one goroutine at a time. What was read from it before a change may be gone after it.
type Tx struct {
	Rx
	ctx     context.Context
	writer  *writer
	level   *savepoint // the innermost
	size    uint32     // writer.size before
	kept    bool
	reserve bool // see UseReserve

	explicit  bool              // BeginUpdate began it
	statement *foreignStatement // in progress, if foreign keys are enforced
	deferred  []foreignCheck    // before the commit
	lost      error             // what it has seen is not committed, and will not be
}

// A savepoint is what it takes to go back: the pages as they were when the transaction, or the part of it that Nested began, took
// them. A page that it took again, after a spill, is in undo again: the first time counts, so that going back begins with the last. Pages that the
// database did not have are not in it.
type savepoint struct {
	id    uint64
	undo  []undoPage
	state state   // as it was at its start
	tail  logTail // where the log ended
	outer *savepoint

	deferred int // checks of the transaction at its start

	spoiled error // a tree may be half changed: there is only the way back
	scoped  bool  // it is that of Nested, and ends when a function returns
}

// An undoPage is a page as it was.
type undoPage struct {
	pgno   uint32
	before *dirtyPage // nil if it was not in writer.pages
}

// nobody may change a page that was read from the file before what was spilled was written over it: it is in memory to be put back.
const nobody = 0

// begin starts a transaction on what the ones before have left.
func (w *writer) begin(db *DB) *Tx {
	s := &w.view
	*s = *w.base
	s.file = s.whole()
	s.reach(w.spilledTo())
	s.mapped, s.pages, s.header, s.schema, s.cache = nil, w.size, w.header, w.schema, &w.cache
	w.cache = pageCache{}
	tx := &Tx{Rx: Rx{snapshot: s, db: db, changed: w}, writer: w, size: w.size}
	tx.push(&w.outermost, w.undo)
	w.tx, w.undo = tx, nil
	return tx
}

// push sets a savepoint.
func (tx *Tx) push(s *savepoint, undo []undoPage) {
	tx.writer.txs++
	*s = savepoint{id: tx.writer.txs, undo: undo, state: state{tx.pages, tx.header, tx.schema}, tail: tx.writer.tail, outer: tx.level, deferred: len(tx.deferred)}
	tx.level = s
}

// Info is that of the Rx, as it is at this moment of the transaction.
func (tx *Tx) Info() Info {
	info := tx.Rx.Info()
	if page1, err := tx.page(1); err == nil {
		info.FreePages = be32(page1[headFree:])
	}
	return info
}

// call calls fn with the guard of View.
func (tx *Tx) call(ctx context.Context, fn func(*Tx) error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	tx.ctx = ctx
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.checkDeferred(); err != nil {
		return err
	}
	return ctx.Err()
}

// Nested calls fn with the same transaction. If it fails or panics, what it has changed is as before, and the rest of the
// transaction can go on. Nested calls nest.
func (tx *Tx) Nested(fn func(tx *Tx) error) error {
	if tx.over {
		return tx.db.pathError("begin", ErrClosed)
	}
	inner := new(savepoint)
	tx.push(inner, nil)
	inner.scoped = true
	kept := false
	defer func() {
		if !kept {
			tx.restoreTo(inner)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.releaseTo(inner); err != nil {
		return err
	}
	kept = true
	tx.release(inner)
	return nil
}

// Guard is that of Rx. After a fault the transaction, or the nested part of it, cannot be kept: a b-tree may be half changed.
func (tx *Tx) Guard(fn func() error) error {
	err := guard(fn)
	if errors.Is(err, ErrFault) && tx.level != nil {
		tx.level.spoiled = err
	}
	return err
}

// release makes the changes since inner a part of what is around it.
func (tx *Tx) release(inner *savepoint) {
	tx.level = inner.outer
	for _, u := range inner.undo {
		if u.before == nil || u.before.tx != tx.level.id { // else it is there
			tx.level.undo = append(tx.level.undo, u)
		}
	}
	for pgno := inner.state.size + 1; pgno <= min(tx.pages, tx.level.state.size); pgno++ { // what the outer part had lost is back
		tx.level.undo = append(tx.level.undo, undoPage{pgno, nil})
	}
}

// restore puts every page back that changed since s, and s is over.
func (tx *Tx) restore(s *savepoint) {
	w := tx.writer
	for _, u := range slices.Backward(s.undo) {
		switch {
		case u.before == nil:
		case u.before.group.over: // it was committed meanwhile, and nobody waits for it
			u.before = nil
		case u.before.tx != nobody:
		case s.outer == nil: // the journal has what was before
			u.before = nil
		default: // the file has what is taken back: this is to be written over it
			first := tx.outermost()
			first.undo = append(first.undo, undoPage{u.pgno, nil})
		}
		w.put(u.pgno, u.before)
	}
	for pgno := s.state.size + 1; pgno <= tx.pages; pgno++ {
		w.pages.drop(pgno)
	}
	tx.takeBack(s)
	tx.deferred = tx.deferred[:s.deferred]
	tx.pages, tx.header, tx.schema = s.state.size, s.state.header, s.state.schema
	tx.level = s.outer
	w.epochs++
}

// keep hands the changes over to the open group, which it returns; nil if there are none.
func (tx *Tx) keep() (*group, error) {
	w := tx.writer
	if err := tx.releaseTo(tx.outermost()); err != nil {
		return nil, err
	}
	if len(tx.level.undo) == 0 && tx.pages == tx.size {
		return nil, nil
	}
	if err := join(tx.shorten(), tx.stamp()); err != nil {
		return nil, err
	}
	w.state = state{tx.pages, tx.header, tx.schema}
	w.open.count++
	w.open.reserve = w.open.reserve || tx.reserve
	if tx.wal == nil {
		w.open.ctxs = append(w.open.ctxs, tx.ctx)
	}
	for _, u := range tx.level.undo {
		if u.before != nil && u.before.group == w.open && u.before.tx != nobody {
			w.shelf.reuse(u.before) // nobody goes back to it any more
		} else {
			w.open.pgnos = append(w.open.pgnos, u.pgno)
		}
	}
	for pgno := tx.size + 1; pgno <= tx.pages; pgno++ {
		if w.pages.get(pgno) != nil {
			w.open.pgnos = append(w.open.pgnos, pgno)
		}
	}
	if len(tx.level.undo) <= keptPages {
		clear(tx.level.undo)
		w.undo = tx.level.undo[:0]
	}
	tx.level, tx.kept = nil, true
	return w.open, nil
}

// keptPages is how many pages a transaction may have changed for the memory of what it kept of them to serve the next one.
const keptPages = 256

// shorten gives back the free pages of a database in full auto-vacuum mode, as SQLite does in each transaction.
func (tx *Tx) shorten() error {
	if !tx.header.AutoVacuum() || tx.header.Incremental {
		return nil
	}
	tx.writer.equip()
	return tx.writer.freelist.vacuum(math.MaxInt)
}

// stamp counts the transaction in the header, as SQLite does: always in rollback mode, and in WAL mode if page 1 changes. Where anything was spilled it
// does so as well: there may be no other page left to commit it with.
func (tx *Tx) stamp() error {
	changed := slices.ContainsFunc(tx.level.undo, func(u undoPage) bool { return u.pgno == 1 })
	if !changed && tx.wal != nil && tx.pages == tx.size && tx.writer.tail.last == 0 {
		return nil
	}
	page1, err := tx.writer.writable(1)
	if err == nil {
		bump(page1, tx.pages)
	}
	return err
}

// end ends the transaction: what was not kept is rolled back.
func (tx *Tx) end() {
	for tx.level != nil {
		tx.restore(tx.level)
	}
	tx.writer.tx, tx.writer.held = nil, 0
	tx.writer.shelf.trim()
	if !tx.kept {
		tx.db.abandon()
	}
	tx.snapshot, tx.over = ended, true
}

// wholePage returns a page with its reserved bytes.
func (rx *Rx) wholePage(pgno uint32) ([]byte, error) {
	data, err := rx.page(pgno)
	if err != nil {
		return nil, err
	}
	return data[:rx.header.PageSize], nil
}

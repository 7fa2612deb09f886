package pager

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A Tx is a write transaction: a snapshot that it can change, and that sees its own changes. It
// belongs to one goroutine at a time. Pages that were read from it before a change may be gone
// after it.
type Tx struct {
	*Rx
	ctx     context.Context
	owner   owner
	writer  *writer
	level   *savepoint // the innermost
	size    uint32     // writer.size before
	kept    bool
	reserve bool // see UseReserve
	known   bool // see MarkKnown
	synced  bool // see RequireSync

	explicit bool  // BeginUpdate began it
	waiting  bool  // it began at a state that is not committed yet
	lost     error // the state that it has seen is not committed, and will not be
}

// An owner runs the transactions of a writer, and commits them.
type owner interface {
	// spill writes pages of a transaction that has too many in memory.
	spill(tx *Tx) error
	// end ends a transaction of BeginUpdate, and commits it unless failed is an error.
	end(tx *Tx, failed error) error
	// abandon rolls the journal back of a transaction that has come to nothing.
	abandon()
}

// Work is the work of a write transaction.
type Work interface {
	// Do changes the database through the transaction that was given to Update. If it fails, or
	// panics, nothing of it has happened.
	Do() error
}

// begin starts tx on the state that the transactions before have left.
func (w *writer) begin(o owner, tx *Tx) {
	s := &w.view
	*s = *w.base
	s.file = s.whole()
	s.reach(w.spilledTo())
	s.Mapped, s.PageCount, s.Header, s.Schema, s.Cache = nil, w.size, w.header, w.schema, &w.cache
	w.cache = pageCache{}
	*tx.Rx = Rx{Snapshot: s, core: w.core, changed: &w.dirtyPages}
	tx.owner, tx.writer, tx.size = o, w, w.size
	tx.push(&w.outermost, w.undo)
	w.tx, w.undo = tx, nil
}

// push sets a savepoint.
func (tx *Tx) push(s *savepoint, undo []undoPage) {
	tx.writer.txs++
	*s = savepoint{id: tx.writer.txs, undo: undo, state: state{tx.PageCount, tx.Header, tx.Schema}, tail: tx.writer.tail, clock: tx.writer.clock, outer: tx.level}
	tx.level = s
}

// call does the work of a transaction, with the guard against faults.
func (tx *Tx) call(ctx context.Context, work Work) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	tx.ctx = ctx
	tx.writer.runs.Add(1)
	defer tx.writer.runs.Add(1)
	if err := work.Do(); err != nil {
		return err
	}
	return ctx.Err()
}

// Nested calls fn, which uses the transaction. If it fails or panics, everything that it has
// changed is as before, and the rest of the transaction can go on. Nested calls nest.
func (tx *Tx) Nested(fn func() error) error {
	if tx.Over {
		return tx.core.PathError("begin", dberr.ErrClosed)
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
	if err := fn(); err != nil {
		return err
	}
	if err := tx.releaseTo(inner); err != nil {
		return err
	}
	kept = true
	tx.release(inner)
	return nil
}

// Guard calls fn, and turns a fault on mapped memory into an error. After a fault the transaction,
// or the part of it since the last savepoint, cannot be kept: a
// b-tree may be half changed.
func (tx *Tx) Guard(fn func() error) error {
	err := dberr.Guard(fn)
	if errors.Is(err, osfile.ErrFault) && tx.level != nil {
		tx.level.spoiled = err
	}
	return err
}

// release makes the changes since inner a part of the savepoint around it.
func (tx *Tx) release(inner *savepoint) {
	tx.level = inner.outer
	for _, u := range inner.undo {
		if u.before == nil || u.before.tx != tx.level.id { // else it is there
			tx.level.undo = append(tx.level.undo, u)
		}
	}
	for pgno := inner.state.size + 1; pgno <= min(tx.PageCount, tx.level.state.size); pgno++ { // pages that the outer part had lost are back
		tx.level.undo = append(tx.level.undo, undoPage{pgno, nil})
	}
}

// restore puts every page back that changed since s, and s is over.
func (tx *Tx) restore(s *savepoint) {
	w := tx.writer
	w.hold() // (K3)
	for _, u := range slices.Backward(s.undo) {
		switch {
		case u.before == nil:
		case u.before.group.over: // it was committed meanwhile, and it waits for nothing any more
			u.before = nil
		case u.before.tx != noTransaction:
		case s.outer == nil: // the journal has the page as it was before
			u.before = nil
		default: // the file has the page that is taken back: this one must be written over it
			first := tx.outermost()
			first.undo = append(first.undo, undoPage{u.pgno, nil})
		}
		w.put(u.pgno, u.before)
	}
	for pgno := s.state.size + 1; pgno <= tx.PageCount; pgno++ {
		w.pages.Drop(pgno)
	}
	tx.takeBack(s)
	if tx.Schema != s.state.schema { // b-trees that were made since then are gone
		w.changedAll()
	}
	w.changes.takeBack(s.clock)
	tx.PageCount, tx.Header, tx.Schema = s.state.size, s.state.header, s.state.schema
	tx.level = s.outer
	w.epochs++
}

// keep hands the changes over to the open group, which it returns; nil if there are none.
func (tx *Tx) keep() (*group, error) {
	w := tx.writer
	if err := tx.releaseTo(tx.outermost()); err != nil {
		return nil, err
	}
	if len(tx.level.undo) == 0 && tx.PageCount == tx.size {
		return nil, nil
	}
	if err := dberr.Join(tx.shorten(), tx.countCommit()); err != nil {
		return nil, err
	}
	w.state = state{tx.PageCount, tx.Header, tx.Schema}
	w.open.count++
	w.open.reserve = w.open.reserve || tx.reserve
	w.open.unknown = w.open.unknown || !tx.known
	w.open.synced = w.open.synced || tx.synced
	if tx.wal == nil {
		w.open.ctxs = append(w.open.ctxs, tx.ctx)
	}
	for _, u := range tx.level.undo {
		if u.before != nil && u.before.group == w.open && u.before.tx != noTransaction {
			w.recent.reuse(u.before) // no savepoint goes back to it any more
		} else {
			w.open.pgnos = append(w.open.pgnos, u.pgno)
		}
	}
	for pgno := tx.size + 1; pgno <= tx.PageCount; pgno++ {
		if w.pages.Get(pgno) != nil {
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

// shorten gives back the free pages of a database in full auto-vacuum mode, as SQLite does in each
// transaction.
func (tx *Tx) shorten() error {
	if !tx.Header.AutoVacuum() || tx.Header.Incremental {
		return nil
	}
	return tx.Freelist().Vacuum(math.MaxInt)
}

// countCommit counts the transaction in the header, as SQLite does: always in rollback mode, and in
// WAL mode if page 1 changes. Where anything was spilled it does so as well: there may be no other
// page left to commit it with. And so it does where the log begins with the transaction (H2 in
// package wal).
func (tx *Tx) countCommit() error {
	changed := slices.ContainsFunc(tx.level.undo, func(u undoPage) bool { return u.pgno == 1 })
	begins := tx.wal != nil && tx.writer.base.lease.Slot == 0
	if !changed && tx.wal != nil && !begins && tx.PageCount == tx.size && tx.writer.tail.Last == 0 {
		return nil
	}
	page1, err := tx.writer.Writable(1)
	if err != nil {
		return err
	}
	step := uint32(1)
	if begins && tx.wal.Binds(tx.writer.base.words[4]) {
		step += wal.RandomWord() % mostStep
	}
	countCommit(page1, tx.PageCount, step)
	return nil
}

// mostStep bounds the steps of the change counter. It comes around after 2^32 / mostStep logs at
// the earliest, which does no harm.
const mostStep = 1 << 16

// end ends the transaction: changes that were not kept are rolled back.
func (tx *Tx) end() {
	tx.writer.changes.release()
	for tx.level != nil {
		tx.restore(tx.level)
	}
	tx.writer.changedAll() // (K4)
	tx.writer.tx, tx.writer.held = nil, 0
	tx.writer.recent.trim()
	if !tx.kept {
		tx.owner.abandon()
	}
	tx.Snapshot, tx.Over = ended, true
}

// Context returns the context of the transaction.
func (tx *Tx) Context() context.Context { return tx.ctx }

// Pages returns the pages as the transaction sees and changes them. They serve one transaction
// after the other, so that a b-tree may remember where it was.
func (tx *Tx) Pages() btree.Store { return tx.writer }

// Freelist returns the free pages. It must be called before the first change of a b-tree since the
// schema became the transaction's.
func (tx *Tx) Freelist() *btree.Freelist {
	w := tx.writer
	if w.schemaOf != tx.Schema {
		w.freelist, w.schemaOf = btree.NewFreelist(w, &tx.Header), tx.Schema
	}
	return &w.freelist
}

// Spoil says that a b-tree may be half changed, because of err: the transaction, or the part of it
// since the last savepoint, can only be rolled back.
func (tx *Tx) Spoil(err error) { tx.level.spoiled = err }

// Fresh returns a page to change, zeroed, without reading its old content.
func (tx *Tx) Fresh(pgno uint32) ([]byte, error) { return tx.writer.Fresh(pgno) }

// releaseTo makes the savepoints that were set after s a part of it, unless one of them, or s
// itself, is spoiled.
func (tx *Tx) releaseTo(s *savepoint) error {
	for at := tx.level; ; at = at.outer {
		if at.spoiled != nil {
			return at.spoiled
		}
		if at == s {
			break
		}
	}
	for tx.level != s {
		tx.release(tx.level)
	}
	return nil
}

// restoreTo goes back to s, and s is over.
func (tx *Tx) restoreTo(s *savepoint) {
	for tx.level != s {
		tx.restore(tx.level)
	}
	tx.restore(s)
}

// UseReserve lets the commit of this transaction use the disk space that is kept for removing.
func (tx *Tx) UseReserve() { tx.reserve = true }

// BeginChange is called before each operation (S1).
func (tx *Tx) BeginChange() error {
	if tx.Over {
		return tx.core.PathError("write", dberr.ErrClosed)
	}
	if int64(tx.writer.held)*int64(tx.Header.PageSize) < tx.core.options.SpillBytes {
		return nil
	}
	if err := tx.owner.spill(tx); err != nil {
		tx.level.spoiled = err
		return err
	}
	return nil
}

// outermost returns the savepoint that the transaction began with.
func (tx *Tx) outermost() *savepoint {
	s := tx.level
	for s.outer != nil {
		s = s.outer
	}
	return s
}

// takeBack forgets the pages that were spilled since s (S3).
func (tx *Tx) takeBack(s *savepoint) {
	w := tx.writer
	if w.tail.Last == s.tail.Last {
		return
	}
	end := s.tail.Last
	if end == 0 {
		end = w.tail.Header.MaxFrame
	}
	_ = tx.wal.Index.Forget(end) // the frames behind it are overwritten by the next commit
	w.tail = s.tail
	tx.last = max(w.base.last, end)
}

// Committed reports whether the state that a transaction of BeginUpdate began at was committed
// then: a read transaction of the same version has the same content.
func (tx *Tx) Committed() bool { return !tx.waiting }

// RequireSync lets this transaction survive the failures that DurabilityFull names, though
// Options.Durability is DurabilityNormal. Transactions that are committed with it share the sync.
func (tx *Tx) RequireSync() { tx.synced = true }

// Commit ends a transaction that BeginUpdate started. It calls before, which may change the
// database, under the guard against faults, and commits everything unless that fails.
func (tx *Tx) Commit(before func() error) error {
	if err := tx.mayEnd("commit"); err != nil {
		return err
	}
	err := tx.ctx.Err()
	if err == nil {
		err = tx.Guard(before)
	}
	return dberr.Explain(tx.owner.end(tx, err))
}

// errRolledBack ends a transaction that is not to be kept.
var errRolledBack = errors.New("rolled back")

// Rollback ends a transaction that BeginUpdate started, and takes back everything that it did. Like
// Commit it waits for the commits whose changes the transaction has seen, and returns their error
// if they fail. After the end it does nothing, and returns an error that matches [ErrClosed].
func (tx *Tx) Rollback() error {
	if err := tx.mayEnd("rollback"); err != nil {
		return err
	}
	if err := tx.owner.end(tx, errRolledBack); err != errRolledBack {
		return dberr.Explain(err)
	}
	return nil
}

// mayEnd returns the reason why the caller cannot end the transaction.
func (tx *Tx) mayEnd(op string) error {
	switch {
	case tx.Over:
		return tx.core.PathError(op, dberr.ErrClosed)
	case !tx.explicit:
		return tx.core.PathError(op, fmt.Errorf("the transaction is that of Update, which ends it"))
	}
	for s := tx.level; s != nil; s = s.outer {
		if s.scoped {
			return tx.core.PathError(op, fmt.Errorf("the function of Nested has not returned"))
		}
	}
	return nil
}

package sqlitefile

import (
	"context"
	"encoding/binary"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/pager"
)

// A Tx is a write transaction: a snapshot that it can change, and that sees its own changes. It is
// valid until the function given to Update returns, and belongs to one goroutine at a time.
//
// Rows may change while they are read: [Cursor] says which ones are met then, and [Row] how long
// one is valid.
type Tx struct {
	Rx
	pages pager.Tx
	fn    func(tx *Tx) error // of Update

	enforcing bool // foreign keys are enforced
	deferred  []deferredCheck
	before    []func() error // see BeforeCommit
}

// A deferredCheck looks at the end of a transaction whether it may be committed.
type deferredCheck interface{ check(tx *Tx) error }

// newTx returns a transaction that has not begun.
func newTx(db *DB) *Tx {
	tx := &Tx{Rx: Rx{db: db}, enforcing: db.options.ForeignKeys}
	tx.pages.Rx = &tx.pager.Rx
	return tx
}

// txWork is a transaction of Update to the pager.
type txWork Tx

// Do calls the function that Update was given, and does the work before a commit.
func (work *txWork) Do() error {
	tx := (*Tx)(work)
	if err := tx.fn(tx); err != nil {
		return err
	}
	return tx.prepareCommit()
}

// Info is the same as Rx.Info, at this moment of the transaction.
func (tx *Tx) Info() Info {
	info := tx.Rx.Info()
	if page1, err := tx.pager.Page(1); err == nil {
		info.FreePages = binary.BigEndian.Uint32(page1[btree.FreeCountOffset:])
	}
	return info
}

// BeforeCommit lets fn be called once when the transaction is about to be committed: after the
// function given to Update, or after the last one of a batch. It may change the database. If it
// fails, the transaction is rolled back, and returns its error. Functions are called in order. A
// transaction that is rolled back calls none of them.
//
// In a transaction that [DB.Batch] shares between calls, the first call can so begin work that the
// end of the transaction completes, for example a counter that many calls change and one row keeps.
func (tx *Tx) BeforeCommit(fn func() error) { tx.before = append(tx.before, fn) }

// prepareCommit does the work that is left before a transaction is committed.
func (tx *Tx) prepareCommit() error {
	for i := 0; i < len(tx.before); i++ { // a function may add another one
		if err := tx.before[i](); err != nil {
			return err
		}
	}
	return tx.checkDeferred()
}

// checkDeferred returns the error of the first check that keeps the transaction from its commit.
func (tx *Tx) checkDeferred() error {
	for _, c := range tx.deferred {
		if err := c.check(tx); err != nil {
			return tx.db.pager.PathError("commit", err)
		}
	}
	return nil
}

// Nested calls fn with the same transaction. If it fails or panics, everything that it has changed
// is as before, and the rest of the transaction can go on. Nested calls nest.
func (tx *Tx) Nested(fn func(tx *Tx) error) error {
	deferred, kept := len(tx.deferred), false
	defer func() {
		if !kept {
			tx.deferred = tx.deferred[:deferred]
		}
	}()
	err := tx.pages.Nested(func() error { return fn(tx) })
	kept = err == nil
	return err
}

// Guard is that of Rx. After a fault the transaction, or the nested part of it, cannot be kept: a
// b-tree may be half changed.
func (tx *Tx) Guard(fn func() error) error { return tx.pages.Guard(fn) }

// UseReserve lets the commit of this transaction use the room on the disk that is kept for removing
// content. It is for transactions that only remove: a transaction that adds as well may take the
// room from the next one.
func (tx *Tx) UseReserve() { tx.pages.UseReserve() }

// BeginUpdate starts a write transaction that the caller must end by [Tx.Commit] or [Tx.Rollback].
// It is [DB.Update] for callers whose code does not fit into a function. It waits for the
// transactions before, until ctx is cancelled; if ctx is cancelled later, Commit rolls back.
//
// While the transaction is open, no other one runs: an Update or a BeginUpdate waits for its end,
// or fails with [ErrBusy] if that takes longer than Options.BusyTimeout, and Close waits for ever.
// A transaction that the caller forgets is never ended by itself. Views go on. An Update of another
// goroutine that has run before may wait, too, as it is committed after the end. So the usual form
// is
//
//	tx, err := db.BeginUpdate(ctx)
//	if err != nil {
//		return err
//	}
//	defer tx.Rollback() // of no effect after Commit
//	...
//	return tx.Commit()
//
// The transaction belongs to one goroutine at a time. A fault on a mapped page ends the process
// unless the caller reads and writes within [Tx.Guard]; Update does so by itself.
func (db *DB) BeginUpdate(ctx context.Context) (*Tx, error) {
	tx := newTx(db)
	if err := db.pager.BeginUpdate(ctx, &tx.pages); err != nil {
		return nil, err
	}
	return tx, nil
}

// Commit ends a transaction that BeginUpdate started, and commits it: everything that it did has
// survived the failures that Options.Durability names when Commit returns nil. If it returns an
// error, nothing of it has happened, unless the error matches [ErrFailed]. Savepoints that are
// still set are released.
//
// After the end it returns an error that matches [ErrClosed], and so do all other methods that
// change or read something. It returns an error and changes nothing within Update, which commits by
// itself, and within the function of Nested.
func (tx *Tx) Commit() error { return tx.pages.Commit(tx.prepareCommit) }

// Rollback ends a transaction that BeginUpdate started, and takes back everything that it did. Like
// Commit it waits for the commits whose changes the transaction has seen, and returns their error
// if they fail. After the end it does nothing, and returns an error that matches [ErrClosed].
func (tx *Tx) Rollback() error { return tx.pages.Rollback() }

// A Savepoint is a place in a transaction to go back to, as SAVEPOINT in SQL. Savepoints stack: one
// that was set later ends together with an earlier one. All end with the transaction, or when the
// function of Nested returns in which they were set.
type Savepoint struct {
	tx       *Tx
	at       pager.Savepoint
	deferred int // checks of the transaction at its start
}

// Savepoint sets a savepoint. Code that fits into a function uses [Tx.Nested].
func (tx *Tx) Savepoint() (*Savepoint, error) {
	s := &Savepoint{tx: tx, deferred: len(tx.deferred)}
	if err := tx.pages.SetSavepoint(&s.at); err != nil {
		return nil, err
	}
	return s, nil
}

// Rollback takes back everything that was done since the savepoint, as ROLLBACK TO does: the
// savepoint stays, and those set after it end. Rows that were read since then must not be used any
// more, and tables from Tx.Table must be asked for again if the schema had changed. It returns
// an error that matches [ErrClosed] if the savepoint has ended.
func (s *Savepoint) Rollback() error {
	if err := s.at.Rollback(); err != nil {
		return err
	}
	s.tx.deferred = s.tx.deferred[:s.deferred]
	return nil
}

// Release ends the savepoint, and those set after it: everything that was done since then becomes a
// part of the transaction, or of the savepoint, around it, as RELEASE does. It returns an error,
// and the savepoint stays, if something went wrong in the middle of a change since then: there is
// only the way back. It returns an error that matches [ErrClosed] if the savepoint has ended.
func (s *Savepoint) Release() error { return s.at.Release() }

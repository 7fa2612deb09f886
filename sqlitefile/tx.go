package sqlitefile

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/pager"
)

// A Tx is a write transaction: a snapshot that it can change, and that sees its own changes. It is
// valid until the function given to Update returns, and belongs to one goroutine at a time. Rows
// that were read from it before a change may be gone after it.
type Tx struct {
	Rx
	pages pager.Tx
	fn    func(tx *Tx) error // of Update

	deferred []deferredCheck
	before   []func() error // see BeforeCommit
}

// A deferredCheck looks at the end of a transaction whether it may be committed.
type deferredCheck interface{ check(tx *Tx) error }

// newTx returns a transaction that has not begun.
func newTx(db *DB) *Tx {
	tx := &Tx{Rx: Rx{db: db}}
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

// Info is that of the Rx, as it is at this moment of the transaction.
func (tx *Tx) Info() Info {
	info := tx.Rx.Info()
	if page1, err := tx.pager.Page(1); err == nil {
		info.FreePages = binary.BigEndian.Uint32(page1[btree.FreeCountOffset:])
	}
	return info
}

// BeforeCommit lets fn be called once when the transaction is about to be committed: after the
// function given to Update, or after the last one of a batch. It may change the database. If it
// fails, the transaction is rolled back, and its error is that of the transaction. Functions are
// called in order. A transaction that is rolled back calls none of them.
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

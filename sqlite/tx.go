package sqlite

import (
	"context"

	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

// A Tx is a transaction. Its statements see one snapshot and their own changes. SAVEPOINT, RELEASE
// and ROLLBACK TO are statements. If a statement fails, what it did is as before, and the
// transaction can go on, unless the statement says ON CONFLICT ROLLBACK. A Tx belongs to one
// goroutine at a time.
type Tx struct{ runner }

// Begin begins a transaction that can write, as BEGIN IMMEDIATE does. It waits for the transactions
// before it. The caller must end it by Commit or Rollback; until then no other one begins, and an
// Exec or a Begin of the DB on the same goroutine waits in vain, for 5 seconds or BusyTimeout.
func (db *DB) Begin(ctx context.Context) (*Tx, error) { return db.begin(ctx, syntax.ModeImmediate) }

func (db *DB) begin(ctx context.Context, mode syntax.TransactionMode) (*Tx, error) {
	c, err := db.connection(ctx)
	if err == nil {
		err = c.begin(ctx, mode)
	}
	if err != nil {
		return nil, asError(err)
	}
	return &Tx{runner{db, c}}, nil
}

// Update calls fn with a transaction that can write, and commits it. If fn fails or panics, or the
// commit fails, nothing of it has happened.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	return db.do(ctx, syntax.ModeImmediate, fn)
}

// View calls fn with a transaction that reads: one snapshot for all its queries.
func (db *DB) View(ctx context.Context, fn func(tx *Tx) error) error {
	return db.do(ctx, syntax.ModeDeferred, func(tx *Tx) error {
		tx.c.txn.readOnly = true
		return fn(tx)
	})
}

func (db *DB) do(ctx context.Context, mode syntax.TransactionMode, fn func(tx *Tx) error) error {
	tx, err := db.begin(ctx, mode)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Commit commits the transaction. If it fails, nothing of the transaction has happened.
func (tx *Tx) Commit() error {
	if tx.c == nil {
		return asError(sqlitefile.ErrClosed)
	}
	err := tx.c.commit()
	tx.release()
	return asError(err)
}

// Rollback takes back everything that the transaction did. After the end it does nothing.
func (tx *Tx) Rollback() error {
	if tx.c != nil {
		tx.release()
	}
	return nil
}

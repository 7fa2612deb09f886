package sqlitefile

import (
	"context"
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/osfile"
)

// BeginUpdate starts a write transaction that the caller must end by [Tx.Commit] or [Tx.Rollback].
// It is [DB.Update] for callers whose code does not fit into a function. It waits for the
// transactions before, until ctx is cancelled; if ctx is cancelled later, Commit rolls back.
//
// While the transaction is open, no other one runs: an Update or a BeginUpdate waits for its end,
// and so does Close. On the same goroutine each of them waits for ever, unless its ctx ends,
// because a transaction that the caller forgets is never ended by itself. Views go on. An Update of
// another goroutine that has run before may wait, too, as it is committed after the end. So the
// usual form is
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
// unless the caller does what reads and writes within [Tx.Guard]; Update does so by itself.
func (db *DB) BeginUpdate(ctx context.Context) (*Tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &db.writer
	w.crowd.Add(1)
	if err := take(ctx, w.turn); err != nil {
		w.crowd.Add(-1)
		return nil, err
	}
	tx, err := db.start(ctx)
	if err != nil {
		w.turn <- struct{}{}
		w.crowd.Add(-1)
		return nil, explain(err)
	}
	return tx, nil
}

// start begins a transaction of BeginUpdate. The caller has the turn.
func (db *DB) start(ctx context.Context) (tx *Tx, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	db.landSpilled()
	if err := db.prepare(ctx); err != nil {
		return nil, err
	}
	defer db.disperse()
	tx = db.writer.begin(db)
	tx.ctx, tx.explicit = ctx, true
	return tx, nil
}

// Commit ends a transaction that BeginUpdate started, and commits it: everything that it did has
// survived what Options.Durability says when Commit returns nil. If it returns an error, nothing of
// it has happened. Savepoints that are still set are released.
//
// After the end it returns an error that matches [ErrClosed], and so do all other methods that
// change or read something. It returns an error and changes nothing within Update, which commits by
// itself, and within the function of Nested.
func (tx *Tx) Commit() error {
	if err := tx.mayEnd("commit"); err != nil {
		return err
	}
	err := tx.ctx.Err()
	if err == nil && len(tx.deferred) > 0 {
		err = tx.Guard(tx.checkDeferred)
	}
	return explain(tx.finish(err))
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
	if err := tx.finish(errRolledBack); err != errRolledBack {
		return explain(err)
	}
	return nil
}

// mayEnd returns the reason why the caller cannot end the transaction.
func (tx *Tx) mayEnd(op string) error {
	switch {
	case tx.over:
		return tx.db.pathError(op, ErrClosed)
	case !tx.explicit:
		return tx.db.pathError(op, fmt.Errorf("the transaction is that of Update, which ends it"))
	}
	for s := tx.level; s != nil; s = s.outer {
		if s.scoped {
			return tx.db.pathError(op, fmt.Errorf("the function of Nested has not returned"))
		}
	}
	return nil
}

// finish ends the transaction, and keeps it if err is nil.
func (tx *Tx) finish(err error) error {
	db := tx.db
	defer db.writer.crowd.Add(-1)
	return db.await(tx.endTurn(err))
}

// endTurn ends the transaction and gives up the turn. It returns what await needs.
func (tx *Tx) endTurn(failed error) (g *group, done chan struct{}, err error) {
	db := tx.db
	defer func() { db.writer.turn <- struct{}{} }()
	defer osfile.Catch(osfile.Arm(), &err)
	defer db.disperse()
	defer tx.end()
	return follower(db.keep(tx, failed))
}

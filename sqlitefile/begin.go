package sqlitefile

import "context"

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
// error, nothing of it has happened. Savepoints that are still set are released.
//
// After the end it returns an error that matches [ErrClosed], and so do all other methods that
// change or read something. It returns an error and changes nothing within Update, which commits by
// itself, and within the function of Nested.
func (tx *Tx) Commit() error { return tx.pages.Commit(tx.prepareCommit) }

// Rollback ends a transaction that BeginUpdate started, and takes back everything that it did. Like
// Commit it waits for the commits whose changes the transaction has seen, and returns their error
// if they fail. After the end it does nothing, and returns an error that matches [ErrClosed].
func (tx *Tx) Rollback() error { return tx.pages.Rollback() }

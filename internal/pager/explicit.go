package pager

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
)

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

package pager

import (
	"context"
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// BeginUpdate starts a write transaction in tx, which the caller ends by Commit or Rollback.
func (p *Pager) BeginUpdate(ctx context.Context, tx *Tx) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &p.writer
	w.callers.Add(1)
	if err := take(ctx, w.writeLock); err != nil {
		w.callers.Add(-1)
		return err
	}
	if err := p.commits.start(ctx, tx); err != nil {
		w.writeLock <- struct{}{}
		w.callers.Add(-1)
		return dberr.Explain(err)
	}
	return nil
}

// start begins a transaction of BeginUpdate. The caller must have the write lock.
func (c *committer) start(ctx context.Context, tx *Tx) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	c.flushSpilled()
	if err := c.prepare(ctx); err != nil {
		return err
	}
	defer c.releaseIfIdle()
	c.pager.writer.begin(c.pager, tx)
	tx.ctx, tx.explicit = ctx, true
	return nil
}

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
	return dberr.Explain(tx.finish(err))
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
		return dberr.Explain(err)
	}
	return nil
}

// mayEnd returns the reason why the caller cannot end the transaction.
func (tx *Tx) mayEnd(op string) error {
	switch {
	case tx.Over:
		return tx.pager.PathError(op, dberr.ErrClosed)
	case !tx.explicit:
		return tx.pager.PathError(op, fmt.Errorf("the transaction is that of Update, which ends it"))
	}
	for s := tx.level; s != nil; s = s.outer {
		if s.scoped {
			return tx.pager.PathError(op, fmt.Errorf("the function of Nested has not returned"))
		}
	}
	return nil
}

// finish ends the transaction, and keeps it if err is nil.
func (tx *Tx) finish(err error) error {
	db := tx.pager
	defer db.writer.callers.Add(-1)
	return db.commits.await(tx.endOne(err))
}

// endOne ends the transaction and gives up the write lock. It returns the arguments of await.
func (tx *Tx) endOne(failed error) (g *group, done chan struct{}, err error) {
	db := tx.pager
	defer func() { db.writer.writeLock <- struct{}{} }()
	defer osfile.Catch(osfile.Arm(), &err)
	defer db.commits.releaseIfIdle()
	defer tx.end()
	return follower(db.commits.keep(tx, failed))
}

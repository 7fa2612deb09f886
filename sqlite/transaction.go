package sqlite

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

// A transaction is what BEGIN or SAVEPOINT has begun on a connection. A deferred one has no
// snapshot before its first statement: a query gives it a view, a change a write transaction, and a
// change after a query needs a write transaction that begins at the view's state.
type transaction struct {
	open      bool
	outer     bool // SAVEPOINT has begun it: the end of the outermost savepoint commits
	readOnly  bool // sql.TxOptions says so
	newSchema bool // it has changed the schema
	lost      error
	view      *sqlitefile.Rx
	tx        *sqlitefile.Tx
	points    []savepoint
}

// A savepoint is a savepoint of SQL. It has no place in the write transaction before there is one.
type savepoint struct {
	name string
	at   *sqlitefile.Savepoint
}

// control runs BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE or ROLLBACK TO.
func (c *connection) control(ctx context.Context, n syntax.Statement) error {
	switch n := n.(type) {
	case *syntax.Savepoint:
		return c.controlSavepoint(ctx, n)
	case *syntax.Transaction:
		switch n.Action {
		case syntax.Begin:
			return c.begin(ctx, n.Mode)
		case syntax.Commit:
			return c.commit()
		}
	}
	if !c.txn.open {
		return errorf(CodeError, "cannot rollback - no transaction is active")
	}
	c.rollback()
	return nil
}

// begin begins a transaction.
func (c *connection) begin(ctx context.Context, mode syntax.TransactionMode) error {
	if c.txn.open {
		return errorf(CodeError, "cannot start a transaction within a transaction")
	}
	if mode == syntax.ModeImmediate || mode == syntax.ModeExclusive {
		if c.readOnly {
			c.txn.open = true // for reading, as in SQLite
			return nil
		}
		tx, err := c.beginUpdate(ctx)
		if err != nil {
			return err
		}
		c.txn.tx = tx
	}
	c.txn.open = true
	return nil
}

// beginUpdate begins a write transaction with the settings of the connection.
func (c *connection) beginUpdate(ctx context.Context) (*sqlitefile.Tx, error) {
	c.buffer()
	waiting := &beginContext{Context: c.context(ctx, c.engine)}
	tx, err := c.engine.file.BeginUpdate(waiting)
	if err != nil {
		return nil, err
	}
	waiting.begun.Store(true)
	c.set(tx)
	return tx, nil
}

// set gives a write transaction the settings of the connection.
func (c *connection) set(tx *sqlitefile.Tx) {
	i := tx.Internal(private.Key{})
	i.EnforceForeignKeys(c.foreignKeys)
	if c.durability <= sqlitefile.DurabilityExtra {
		i.RequireSync()
	}
}

// A beginContext is the context of a call that begins a transaction, which ends by itself: the
// transaction that it began does not end with it.
type beginContext struct {
	context.Context
	begun atomic.Bool
}

func (c *beginContext) Err() error {
	if c.begun.Load() {
		return nil
	}
	return c.Context.Err()
}

func (c *beginContext) Done() <-chan struct{} {
	if c.begun.Load() {
		return nil
	}
	return c.Context.Done()
}

// reader returns the transaction that a query reads in. If own is set, the query must end it.
func (c *connection) reader(ctx context.Context) (rx *sqlitefile.Rx, own bool, err error) {
	t := &c.txn
	switch {
	case t.lost != nil:
		return nil, false, t.lost
	case t.tx != nil:
		return &t.tx.Rx, false, nil
	case t.view != nil:
		return t.view, false, nil
	}
	if rx, err = c.engine.file.BeginView(c.context(ctx, c.engine)); err != nil {
		return nil, false, err
	}
	if t.open {
		t.view = rx
	}
	return rx, !t.open, nil
}

// mayWrite returns the reason why the connection cannot write.
func (c *connection) mayWrite() error {
	if c.readOnly || c.queryOnly || c.txn.readOnly {
		return errReadOnly
	}
	return nil
}

// write calls fn with the write transaction of the connection, or with one of its own that is
// committed. If fn fails, what it did must be as before.
func (c *connection) write(ctx context.Context, fn func(tx *sqlitefile.Tx) error) error {
	if err := c.mayWrite(); err != nil {
		return err
	}
	c.buffer()
	if c.txn.open {
		if err := c.upgrade(ctx); err != nil {
			return err
		}
		return c.txn.tx.Guard(func() error { return fn(c.txn.tx) })
	}
	var failed error
	err := c.engine.file.Update(c.context(ctx, c.engine), func(tx *sqlitefile.Tx) error {
		c.set(tx)
		failed = fn(tx)
		return failed
	})
	if err != nil && failed == nil { // not committed: the cache must not know its schema
		c.engine.cache.clear()
	}
	if err == nil {
		err = c.syncEnd(ctx)
	}
	return err
}

// syncEnd makes the end of a commit durable that only synchronous=EXTRA is about.
func (c *connection) syncEnd(ctx context.Context) error {
	if c.durability != sqlitefile.DurabilityExtra {
		return nil
	}
	return c.engine.file.Sync(context.WithoutCancel(ctx))
}

// errSnapshot says that the transaction has read a state that is not the last one any more.
var errSnapshot = &Error{Code: CodeBusy, Extended: CodeBusySnapshot, Message: "database is locked"}

// upgrade makes the transaction of the connection a write transaction.
func (c *connection) upgrade(ctx context.Context) error {
	t := &c.txn
	switch {
	case t.lost != nil:
		return t.lost
	case t.tx != nil:
		return nil
	case t.view == nil:
		tx, err := c.beginUpdate(ctx)
		if err != nil {
			return err
		}
		return c.upgraded(tx)
	}
	seen := t.view.Version()
	if info := t.view.Info(); !info.WAL || info.PageCount == 0 { // a commit waits for the view
		t.view.End()
		t.view, t.lost = nil, errSnapshot
	}
	for {
		if now, known := c.engine.file.Version(); known && now != seen {
			return errSnapshot
		}
		tx, err := c.beginUpdate(ctx)
		if err != nil {
			return err
		}
		if tx.Internal(private.Key{}).Committed() {
			if tx.Version() == seen {
				return c.upgraded(tx)
			}
			tx.Rollback()
			return errSnapshot
		}
		if err := tx.Rollback(); err != nil { // waits for the commits that it has seen
			return err
		}
	}
}

// upgraded takes in the write transaction, in place of the view.
func (c *connection) upgraded(tx *sqlitefile.Tx) (err error) {
	t := &c.txn
	if t.view != nil {
		t.view.End()
	}
	t.view, t.lost, t.tx = nil, nil, tx
	for i := range t.points {
		if t.points[i].at, err = tx.Savepoint(); err != nil {
			return err
		}
	}
	return nil
}

// buffer reads rows into memory that are being read from the transaction, or keep a commit waiting.
func (c *connection) buffer() {
	for _, r := range slices.Clone(c.cursors) {
		if !r.own || !r.rx.Info().WAL { // else it is in nobody's way
			r.buffer()
		}
	}
}

// commit commits the transaction.
func (c *connection) commit() error {
	t := &c.txn
	if !t.open {
		return errorf(CodeError, "cannot commit - no transaction is active")
	}
	c.buffer()
	if t.tx == nil {
		c.end()
		return nil
	}
	if err := t.tx.Guard(t.tx.Internal(private.Key{}).CheckDeferred); err != nil {
		return err // the transaction goes on, as in SQLite
	}
	tx := t.tx
	t.tx = nil
	c.end()
	if err := tx.Commit(); err != nil {
		c.engine.cache.clear()
		return err
	}
	return c.syncEnd(context.Background())
}

// rollback rolls the transaction back, if there is one.
func (c *connection) rollback() {
	t := &c.txn
	if !t.open {
		return
	}
	c.buffer()
	if t.tx != nil {
		_ = t.tx.Rollback() // the error of a commit before it, whose caller gets it
		t.tx = nil
	}
	c.end()
}

// end leaves the transaction, which changes nothing.
func (c *connection) end() {
	if c.txn.view != nil {
		c.txn.view.End()
	}
	c.txn = transaction{}
	c.deferForeignKeys = false
}

// controlSavepoint runs SAVEPOINT, RELEASE or ROLLBACK TO.
func (c *connection) controlSavepoint(ctx context.Context, n *syntax.Savepoint) (err error) {
	t := &c.txn
	if n.Action == syntax.SavepointSet {
		if !t.open {
			t.open, t.outer = true, true
		}
		p := savepoint{name: n.Name.Text}
		if t.tx != nil {
			c.buffer()
			p.at, err = t.tx.Savepoint()
		}
		if err == nil {
			t.points = append(t.points, p)
		}
		return err
	}
	i := len(t.points) - 1
	for i >= 0 && !strings.EqualFold(t.points[i].name, n.Name.Text) {
		i--
	}
	if i < 0 {
		return errorf(CodeError, "no such savepoint: "+n.Name.Text)
	}
	p := t.points[i]
	if n.Action == syntax.SavepointRollback {
		if p.at != nil {
			c.buffer()
			err = p.at.Rollback()
		}
		t.points = t.points[:i+1]
		return err
	}
	if i == 0 && t.outer {
		return c.commit()
	}
	if p.at != nil {
		err = p.at.Release()
	}
	if err == nil {
		t.points = t.points[:i]
	}
	return err
}

package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/exec"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

// A connection runs statements: it has settings, a transaction, and the rows that are being read.
// All that is large belongs to the engine. It belongs to one goroutine at a time.
type connection struct {
	engine     *engine
	closed     *atomic.Bool // of the DB
	sortMemory int
	settings
	txn     transaction
	cursors []*cursor // with rows to come

	changes, lastInsertID int64
}

// settings are the settings of a connection.
type settings struct {
	readOnly    bool // the database was opened so
	queryOnly   bool
	foreignKeys bool
	durability  sqlitefile.Durability
	busy        time.Duration
	mode        syntax.TransactionMode // of a transaction of database/sql
	location    *time.Location         // of times that columns have; nil for UTC

	recursiveTriggers, deferForeignKeys bool
}

// context returns a context whose calls wait for locks as long as the settings say.
func (s *settings) context(ctx context.Context, e *engine) context.Context {
	if s.busy == e.busy {
		return ctx
	}
	return e.file.Internal(private.Key{}).WithBusyTimeout(ctx, s.busy)
}

// reset ends what the user of the connection has left: rows, and a transaction, which is rolled
// back.
func (c *connection) reset() {
	for len(c.cursors) > 0 {
		c.cursors[0].close()
	}
	c.rollback()
}

// A Result describes what a statement has changed.
type Result struct {
	Changes      int64 // rows that the last INSERT, UPDATE or DELETE inserted, changed or deleted
	LastInsertID int64 // rowid of the last row that was inserted
}

func (c *connection) result() Result { return Result{c.changes, c.lastInsertID} }

// exec runs the statements of a text.
func (c *connection) exec(ctx context.Context, sql string, args []driver.NamedValue) error {
	r, err := c.query(ctx, sql, args)
	if err != nil || r == nil {
		return err
	}
	return r.finish()
}

// rows runs the statements of a text and yields the rows of the last one.
func (c *connection) rows(ctx context.Context, sql string, args []driver.NamedValue) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		r, err := c.query(ctx, sql, args)
		if err == nil && r != nil {
			defer r.close()
			row := &Row{columns: r.columns}
			for {
				var ok bool
				if row.values, ok, err = r.next(); err != nil || !ok {
					break
				}
				if !yield(row, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, asError(err))
		}
	}
}

// query runs the statements of a text and returns the rows of the last one. They are nil if the
// text has no statement.
func (c *connection) query(ctx context.Context, sql string, args []driver.NamedValue) (r *cursor, err error) {
	if k, ok := c.engine.cache.peek(sql); ok {
		return c.start(ctx, k, &unit{sql: sql}, args)
	}
	for {
		u, err := parse(sql)
		if err != nil || u.Statement == nil {
			return r, err
		}
		if r != nil {
			if err := r.finish(); err != nil {
				return nil, err
			}
		}
		own := args
		if u.rest != "" {
			if own, args, err = u.split(args); err != nil {
				return nil, err
			}
		}
		if r, err = c.start(ctx, u.kind(), u, own); err != nil || u.rest == "" {
			return r, err
		}
		sql = u.rest
	}
}

// split returns the arguments of the first statement, and those of the others.
func (u *unit) split(args []driver.NamedValue) (own, others []driver.NamedValue, err error) {
	if slices.ContainsFunc(args, func(a driver.NamedValue) bool { return a.Name != "" }) {
		return args, args, nil
	}
	if len(args) < u.Parameters {
		return nil, nil, errFewArguments(u.Parameters, len(args))
	}
	others = slices.Clone(args[u.Parameters:])
	for i := range others {
		others[i].Ordinal = i + 1
	}
	return args[:u.Parameters], others, nil
}

// start begins to run a statement. The unit has no more than the text if the cache has the
// statement.
func (c *connection) start(ctx context.Context, k kind, u *unit, args []driver.NamedValue) (*cursor, error) {
	if c.closed.Load() {
		return nil, sqlitefile.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch k {
	case kindQuery:
		return c.startQuery(ctx, u, args)
	case kindChange:
		return c.change(ctx, u, args)
	case kindSchema:
		return &cursor{}, c.changeSchema(ctx, u)
	case kindTransaction:
		return &cursor{}, c.control(ctx, u.Statement)
	case kindPragma:
		return c.pragma(ctx, u.Statement.(*syntax.Pragma))
	case kindVacuum:
		return &cursor{}, c.vacuum(ctx, u)
	}
	return nil, u.unsupported()
}

// startQuery begins to run a query.
func (c *connection) startQuery(ctx context.Context, u *unit, args []driver.NamedValue) (*cursor, error) {
	if u.Parsed != nil {
		var err error
		if u, err = c.callPragmas(ctx, u, args); err != nil {
			return nil, err
		}
	}
	r := &cursor{c: c, ctx: ctx}
	rx, own, err := c.reader(ctx)
	if err != nil {
		return nil, err
	}
	r.rx, r.own = rx, own
	c.cursors = append(c.cursors, r)
	if err := r.open(u, args); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// compiled returns the compiled form of a statement.
func (c *connection) compiled(rx *sqlitefile.Rx, u *unit) (*statement, error) {
	if !c.txn.newSchema { // else the cookie may have another meaning tomorrow
		if s := c.engine.cache.take(u.sql, rx.Info().SchemaVersion); s != nil {
			return s, nil
		}
	}
	if u.Parsed == nil {
		var err error
		if u, err = parse(u.sql); err != nil {
			return nil, err
		}
	}
	s, err := u.compile(rx)
	if err == nil && (c.txn.newSchema || u.once) {
		s.forget()
	}
	return s, err
}

// change runs an INSERT, UPDATE or DELETE. Its rows are those of RETURNING.
func (c *connection) change(ctx context.Context, u *unit, args []driver.NamedValue) (*cursor, error) {
	r := &cursor{}
	var failed error // by a conflict that keeps the rows before it
	rollsBack := false
	err := c.write(ctx, func(tx *sqlitefile.Tx) error {
		s, err := c.compiled(&tx.Rx, u)
		if err != nil {
			return err
		}
		defer c.engine.cache.put(s)
		if err := s.setNamed(args); err != nil {
			return err
		}
		if ctx.Done() != nil {
			defer s.cancelWith(ctx)()
		}
		err = s.failed(ctx, s.change.Run(tx, s.params, &s.cancel))
		if result := s.change.Result; err == nil || result.Changes > 0 {
			c.changes = result.Changes
			if result.Inserted {
				c.lastInsertID = result.Rowid
			}
		}
		if err != nil {
			rollsBack = exec.RollsBack(err)
			keeps := sqlitefile.Clause(private.Key{}, err) == syntax.ConflictFail
			if err = constraintError(&tx.Rx, err); keeps {
				failed = err
				return nil
			}
			return err
		}
		return r.keep(s.change)
	})
	if rollsBack {
		c.rollback()
	}
	return r, cmp.Or(failed, err)
}

// changeSchema runs a statement that changes the schema.
func (c *connection) changeSchema(ctx context.Context, u *unit) error {
	return c.write(ctx, func(tx *sqlitefile.Tx) error {
		if err := tx.Exec(u.sql); err != nil {
			return err
		}
		c.txn.newSchema = c.txn.open
		return nil
	})
}

// vacuum runs VACUUM.
func (c *connection) vacuum(ctx context.Context, u *unit) error {
	v := u.Statement.(*syntax.Vacuum)
	switch {
	case v.Into != nil:
		return unsupportedOption("VACUUM INTO")
	case c.txn.open:
		return errorf(CodeError, "cannot VACUUM from within a transaction")
	}
	if err := c.mayWrite(); err != nil {
		return err
	}
	c.buffer()
	return c.engine.file.Compact(c.context(ctx, c.engine), nil)
}

// A prepared is what a statement shows of itself before it runs.
type prepared struct {
	parameters int // -1 if the text has several statements
	columns    []string
}

// prepare compiles the first statement of a text, so that its errors are found, and leaves it in
// the cache.
func (c *connection) prepare(ctx context.Context, sql string) (p prepared, err error) {
	u, err := parse(sql)
	if err != nil || u.Statement == nil {
		return p, err
	}
	p.parameters = u.Parameters
	if u.rest != "" {
		p.parameters = -1
	}
	switch k := u.kind(); k {
	case kindQuery, kindChange:
		if k == kindChange && c.mayWrite() != nil {
			return p, nil
		}
		if u, err = c.callPragmas(ctx, u, nil); err != nil {
			return p, err
		}
		rx, own, err := c.reader(ctx)
		if err != nil {
			return p, err
		}
		if own {
			defer rx.End()
		}
		return p, rx.Guard(func() error {
			s, err := c.compiled(rx, u)
			if err != nil {
				return err
			}
			p.columns = names(s.columns())
			c.engine.cache.put(s)
			return nil
		})
	case kindUnsupported:
		return p, u.unsupported()
	}
	return p, nil
}

// namedValues are arguments as database/sql has them.
func namedValues(args []any) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, a := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
		if n, ok := a.(sql.NamedArg); ok {
			list[i].Name, list[i].Value = n.Name, n.Value
		}
	}
	return list
}

// recordsOf makes a row of values.
func recordsOf(values []any) []record.Value {
	row := make([]record.Value, len(values))
	for i, v := range values {
		row[i], _ = valueOf(v)
	}
	return row
}

package sqlite

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/sqlitefile"
)

// A DB is an open database. It is safe for concurrent use.
type DB struct {
	engine      *engine
	settings    atomic.Pointer[settings] // of connections that begin
	pragmas     []string                 // statements that each connection begins with
	sortMemory  int
	closed      *atomic.Bool
	connections sync.Pool // of *connection, for Exec
}

// Open opens the database at path, which must exist unless Options.Create is set. A file that the
// process may not write is opened for reading. The path ":memory:", or "", makes a database in
// memory, which is gone after Close.
//
// All DBs of a process that open the same file share one engine: their writers wait for each other
// in a fair queue, and commit together.
func Open(path string, o *Options) (*DB, error) {
	if o == nil {
		o = &Options{}
	}
	e, err := openEngine(path, o)
	if err != nil {
		return nil, asError(err)
	}
	db := &DB{engine: e, sortMemory: o.SortMemory, closed: new(atomic.Bool)}
	db.settings.Store(&settings{
		readOnly: o.ReadOnly || o.Immutable, foreignKeys: o.ForeignKeys,
		durability: o.Durability, busy: cmp.Or(o.BusyTimeout, defaultBusyTimeout),
	})
	return db, nil
}

// Close closes the database. It waits for the statements in progress.
func (db *DB) Close() error {
	if !db.closed.CompareAndSwap(false, true) {
		return sqlitefile.ErrClosed
	}
	return db.engine.close()
}

// Exec runs statements, with semicolons between them, and returns the result of the last one. Rows
// that they return are skipped. Each statement is a transaction of its own; BEGIN is for
// [DB.Begin]. A PRAGMA that sets something, foreign_keys for example, sets it for the DB. See
// [DB.Query] for the arguments, which the statements take in turn.
func (db *DB) Exec(ctx context.Context, sql string, args ...any) (result Result, err error) {
	err = db.with(ctx, func(c *connection) error {
		err := c.exec(ctx, sql, namedValues(args))
		result = c.result()
		return err
	})
	return result, asError(err)
}

// with calls fn with a connection, whose settings stay.
func (db *DB) with(ctx context.Context, fn func(c *connection) error) error {
	c, err := db.connection(ctx)
	if err != nil {
		return err
	}
	defer db.release(c)
	if err := fn(c); err != nil || !c.txn.open {
		return err
	}
	return errors.New("the statement begins a transaction: use Begin or Update")
}

// connection returns a connection for one call.
func (db *DB) connection(ctx context.Context) (*connection, error) {
	if c, _ := db.connections.Get().(*connection); c != nil && !db.closed.Load() {
		c.settings = *db.settings.Load()
		return c, nil
	}
	return db.connect(ctx)
}

// connect returns a new connection.
func (db *DB) connect(ctx context.Context) (*connection, error) {
	if db.closed.Load() {
		return nil, sqlitefile.ErrClosed
	}
	c := &connection{engine: db.engine, closed: db.closed, sortMemory: db.sortMemory, settings: *db.settings.Load()}
	for _, p := range db.pragmas {
		if err := c.exec(ctx, p, nil); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// release takes a connection back.
func (db *DB) release(c *connection) {
	c.reset()
	if s := c.settings; s != *db.settings.Load() {
		db.settings.Store(&s)
	}
	db.connections.Put(c)
}

// Query runs a query, or a statement that returns rows, and yields its rows. An error is yielded
// once, last, with a nil Row.
//
// A parameter of the statement takes the argument of its number; one with a name can also take a
// [sql.NamedArg]. An argument is nil, an integer of any type of Go's own, bool, float32, float64,
// string, []byte, or a time.Time.
//
// The rows come from one snapshot. A [Row] is valid until the next one, and the bytes that it
// returns without a copy until the loop ends.
func (db *DB) Query(ctx context.Context, sql string, args ...any) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		stopped := false
		err := db.view(ctx, func(rx *sqlitefile.Rx) error {
			return db.run(ctx, rx, sql, args, func(row *Row) bool {
				stopped = !yield(row, nil)
				return !stopped
			})
		})
		if errors.Is(err, errNoQuery) {
			db.rows(ctx, sql, args)(yield)
			return
		}
		if err != nil && !stopped {
			yield(nil, asError(err))
		}
	}
}

// rows is Query for texts that are no query: a connection runs them.
func (db *DB) rows(ctx context.Context, sql string, args []any) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		stopped := false
		err := db.with(ctx, func(c *connection) (failed error) {
			for row, err := range c.rows(ctx, sql, namedValues(args)) {
				if failed = err; err != nil {
					break
				}
				if stopped = !yield(row, nil); stopped {
					break
				}
			}
			return failed
		})
		if err != nil && !stopped {
			yield(nil, asError(err))
		}
	}
}

// view calls fn with a snapshot.
func (db *DB) view(ctx context.Context, fn func(rx *sqlitefile.Rx) error) error {
	if db.closed.Load() {
		return sqlitefile.ErrClosed
	}
	return db.engine.file.View(db.settings.Load().context(ctx, db.engine), fn)
}

// run runs a query in a transaction.
func (db *DB) run(ctx context.Context, rx *sqlitefile.Rx, sql string, args []any, yield func(*Row) bool) error {
	s, err := db.query(rx, sql)
	if err != nil {
		return err
	}
	defer db.engine.cache.put(s)
	if err := s.setArgs(args); err != nil {
		return err
	}
	if ctx.Done() != nil {
		defer s.cancelWith(ctx)()
	}
	if err := s.query.Open(rx, s.params, &s.cancel); err != nil {
		return s.failed(ctx, err)
	}
	row := &s.row
	row.columns = s.query.Columns
	for {
		ok, err := s.query.Next()
		if err != nil {
			return s.failed(ctx, err)
		}
		if !ok {
			return nil
		}
		if row.values = s.query.Values(); !yield(row) {
			return nil
		}
	}
}

// errNoQuery says that a text is not one query.
var errNoQuery = errors.New("the text is not one query")

// query returns the compiled form of a text that is one query.
func (db *DB) query(rx *sqlitefile.Rx, sql string) (*statement, error) {
	s := db.engine.cache.take(sql, rx.Info().SchemaVersion)
	if s == nil {
		u, err := parse(sql)
		if err != nil {
			return nil, err
		}
		if u.kind() != kindQuery || u.rest != "" || mayCallPragma(sql) {
			return nil, errNoQuery
		}
		if s, err = u.compile(rx); err != nil {
			return nil, err
		}
	} else if s.query == nil {
		db.engine.cache.put(s)
		return nil, errNoQuery
	}
	s.query.SetSortMemory(db.sortMemory)
	return s, nil
}

// QueryRow runs a query and copies the columns of its first row into dest, as [Row.Scan] does. It
// reports whether there is a row.
func (db *DB) QueryRow(ctx context.Context, dest []any, sql string, args ...any) (ok bool, err error) {
	scan := func(row *Row) bool {
		ok = true
		err = row.Scan(dest...)
		return false
	}
	failed := db.view(ctx, func(rx *sqlitefile.Rx) error { return errors.Join(db.run(ctx, rx, sql, args, scan), err) })
	if errors.Is(failed, errNoQuery) {
		for row, err := range db.rows(ctx, sql, args) {
			if err != nil {
				return false, err
			}
			if !scan(row) {
				break
			}
		}
		failed = err
	}
	return ok && failed == nil, asError(failed)
}

// BackupFile makes a copy of the database, as it is now, at path, where nothing may be.
func (db *DB) BackupFile(ctx context.Context, path string) error {
	return asError(db.engine.file.BackupFile(ctx, path, nil))
}

// Columns returns the names of the columns of a statement, which it does not run.
func (db *DB) Columns(ctx context.Context, sql string) (names []string, err error) {
	err = db.with(ctx, func(c *connection) error {
		p, err := c.prepare(ctx, sql)
		if err == nil {
			names = p.columns
		}
		return err
	})
	return names, asError(err)
}

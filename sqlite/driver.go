package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/sqlitefile"
)

func init() { sql.Register("folio", Driver{}) }

// A Driver opens databases for database/sql, by the name "folio". The name of a data source is a
// path, or a URI that begins with "file:", with options behind a "?":
//
//	app.db?mode=ro&_busy_timeout=10000
//	file:app.db?immutable=1
//	app.db?_pragma=busy_timeout(10000)&_txlock=deferred
//
// Options that are about reading have the names of go-sqlite3 (_busy_timeout, _timeout,
// _query_only, mode, immutable) or of modernc.org/sqlite (_pragma). Options that are about writing,
// such as _journal_mode or _pragma=synchronous(1), are accepted and have no effect, as nothing is
// written. Others are an error.
type Driver struct{}

// Open returns a connection of its own to a database.
func (d Driver) Open(name string) (driver.Conn, error) {
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	made, err := c.Connect(context.Background())
	if err != nil {
		c.(*Connector).Close()
		return nil, err
	}
	made.(*conn).owner = c.(*Connector)
	return made, nil
}

// OpenConnector opens a database, which all connections share.
func (Driver) OpenConnector(name string) (driver.Connector, error) {
	path, o, err := parseName(name)
	if err != nil {
		return nil, err
	}
	db, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	return &Connector{db}, nil
}

// A Connector makes connections to a database. A connection is a small value: all that is large
// belongs to the database.
type Connector struct{ db *DB }

// Connect returns a connection.
func (c *Connector) Connect(context.Context) (driver.Conn, error) { return &conn{db: c.db}, nil }

// Driver returns the driver.
func (c *Connector) Driver() driver.Driver { return Driver{} }

// Close closes the database.
func (c *Connector) Close() error { return c.db.Close() }

// A conn is a connection: a database, and perhaps a transaction.
type conn struct {
	db    *DB
	tx    *sqlitefile.Rx
	owner *Connector // to close with the connection
}

func (c *conn) Close() error {
	if c.owner != nil {
		return c.owner.Close()
	}
	return nil
}

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a read transaction: one snapshot for all its queries.
func (c *conn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if c.tx != nil {
		return nil, &Error{Code: CodeError, Extended: CodeError, Message: "cannot start a transaction within a transaction"}
	}
	rx, err := c.db.file.BeginView(ctx)
	if err != nil {
		return nil, asError(err)
	}
	c.tx = rx
	return transaction{c}, nil
}

type transaction struct{ c *conn }

func (t transaction) Commit() error {
	t.c.tx.End()
	t.c.tx = nil
	return nil
}

func (t transaction) Rollback() error { return t.Commit() }

// ResetSession ends statements and transactions that a user of the connection left.
func (c *conn) ResetSession(context.Context) error { return nil }

// IsValid reports that the connection can be used again.
func (c *conn) IsValid() bool { return true }

func (c *conn) Ping(ctx context.Context) error {
	return asError(c.db.file.View(ctx, func(*sqlitefile.Rx) error { return nil }))
}

// CheckNamedValue accepts the types that [DB.Query] accepts.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	switch v.Value.(type) {
	case nil, int64, string, []byte, float64, bool:
		return nil
	}
	_, err := valueOf(v.Value)
	return err
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext compiles a query, so that its errors are found, and leaves it in the cache.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	n := 0
	err := c.view(ctx, func(rx *sqlitefile.Rx) error {
		s, err := c.db.cache.take(rx, query)
		if errors.Is(err, errReadOnly) {
			n = -1
			return nil
		}
		if err != nil {
			return err
		}
		n = s.Parameters
		c.db.cache.put(s)
		return nil
	})
	if err != nil {
		return nil, asError(err)
	}
	return &stmt{c, query, n}, nil
}

// view calls fn with the transaction of the connection, or with one of its own.
func (c *conn) view(ctx context.Context, fn func(rx *sqlitefile.Rx) error) error {
	if c.tx != nil {
		return c.tx.Guard(func() error { return fn(c.tx) })
	}
	return c.db.file.View(ctx, fn)
}

// ExecContext runs a query without its rows. It refuses everything else.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	rows, err := c.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(row)
	}
	if closed := rows.Close(); closed != nil {
		return nil, closed
	}
	if !isEnd(err) {
		return nil, err
	}
	return driver.RowsAffected(0), nil
}

// QueryContext runs a query.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (_ driver.Rows, err error) {
	r := &rows{c: c, ctx: ctx}
	if r.rx = c.tx; r.rx == nil {
		if r.rx, err = c.db.file.BeginView(ctx); err != nil {
			return nil, asError(err)
		}
		r.own = true
	}
	if err := r.begin(query, args); err != nil {
		r.Close()
		return nil, asError(err)
	}
	return r, nil
}

func (r *rows) begin(query string, args []driver.NamedValue) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	s, err := r.c.db.cache.take(r.rx, query)
	if err != nil {
		return err
	}
	r.s = s
	clear(s.params)
	for i := range args {
		v, err := valueOf(args[i].Value)
		if err == nil {
			err = s.setArg(args[i].Ordinal, args[i].Name, v)
		}
		if err != nil {
			return err
		}
	}
	if len(args) < len(s.params) {
		if len(s.Names) == 0 || len(args) == 0 {
			return fmt.Errorf("not enough args to execute query: want %d got %d", len(s.params), len(args))
		}
	}
	if r.ctx.Done() != nil {
		r.end = s.cancelWith(r.ctx)
	}
	return s.failed(r.ctx, s.Open(r.rx, s.params, &s.cancel))
}

// A stmt is the text of a query: the cache keeps its compiled form.
type stmt struct {
	c          *conn
	query      string
	parameters int // -1 if it is no query
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return s.parameters }

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.query, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.query, args)
}

func named(args []driver.Value) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, a := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return list
}

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

func init() { sql.Register("folio", Driver{}) }

// A Driver opens databases for database/sql, by the name "folio". The name of a data source is a
// path, or a URI that begins with "file:", with options behind a "?":
//
//	app.db?_busy_timeout=10000&_foreign_keys=on
//	file:app.db?mode=ro
//	app.db?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_txlock=immediate
//	:memory:
//
// Options have the names of go-sqlite3 or of modernc.org/sqlite; docs/reference/sql.md lists them.
// The file is made if there is none, unless mode says otherwise.
//
// A database in memory is one for all connections of a sql.DB. With cache=shared, all that open the
// same name share it until the last of them is closed.
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
	s, err := parseName(name)
	if err != nil {
		return nil, asError(err)
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	return &Connector{db}, nil
}

// A Connector makes connections to a database. A connection is a small value: all that is large
// belongs to the database.
type Connector struct{ db *DB }

// Connect returns a connection.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.db.connect(ctx)
	if err != nil {
		return nil, asError(err)
	}
	return &conn{connection: made, db: c.db}, nil
}

// Driver returns the driver.
func (c *Connector) Driver() driver.Driver { return Driver{} }

// Close closes the database.
func (c *Connector) Close() error { return c.db.Close() }

// A conn is a connection for database/sql.
type conn struct {
	*connection
	db    *DB
	owner *Connector // to close with the connection
}

// Close rolls back the transaction of the connection, if there is one.
func (c *conn) Close() error {
	c.reset()
	if c.owner != nil {
		return c.owner.Close()
	}
	return nil
}

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction. Every isolation level is that of SQLite, serializable.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	mode := c.mode
	if o.ReadOnly {
		mode = syntax.ModeDeferred
	}
	if err := c.begin(ctx, mode); err != nil {
		return nil, asError(err)
	}
	c.txn.readOnly = o.ReadOnly
	return driverTx{c}, nil
}

// A driverTx is the transaction of a connection for database/sql.
type driverTx struct{ c *conn }

// Commit commits the transaction. If that fails, it is rolled back: database/sql has ended it.
func (t driverTx) Commit() error {
	if !t.c.txn.open { // a conflict, or a ROLLBACK of the user
		return asError(t.c.commit())
	}
	err := t.c.commit()
	t.c.rollback()
	return asError(err)
}

// Rollback rolls the transaction back. An error rolled it back if there is none any more.
func (t driverTx) Rollback() error {
	t.c.rollback()
	return nil
}

// ResetSession ends statements and a transaction that a user of the connection left.
func (c *conn) ResetSession(context.Context) error {
	c.reset()
	return nil
}

// IsValid reports that the connection can be used again. It ends what its user left, so that locks
// do not stay with a connection that nobody uses.
func (c *conn) IsValid() bool {
	c.reset()
	return true
}

func (c *conn) Ping(ctx context.Context) error {
	if c.txn.open {
		return nil
	}
	return asError(c.db.view(ctx, func(*sqlitefile.Rx) error { return nil }))
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

// PrepareContext compiles a statement, so that its errors are found, and leaves it in the cache.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	p, err := c.prepare(ctx, query)
	if err != nil {
		return nil, asError(err)
	}
	return &stmt{c, query, p.parameters}, nil
}

// ExecContext runs the statements of a text.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.exec(ctx, query, args); err != nil {
		return nil, asError(err)
	}
	return result(c.result()), nil
}

// A result is a Result for database/sql.
type result Result

func (r result) LastInsertId() (int64, error) { return r.LastInsertID, nil }
func (r result) RowsAffected() (int64, error) { return r.Changes, nil }

// QueryContext runs the statements of a text, and returns the rows of the last one.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.query(ctx, query, args)
	if err != nil {
		return nil, asError(err)
	}
	if r == nil {
		r = &cursor{}
	}
	return &rows{r, c.location}, nil
}

// A stmt is the text of a statement: the cache keeps its compiled form.
type stmt struct {
	c          *conn
	query      string
	parameters int // -1 if the text has several statements
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

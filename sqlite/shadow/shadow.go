package shadow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

func init() { sql.Register("folio-shadow", shadowDriver{}) }

// A Difference is a query to which two drivers give other answers.
type Difference struct {
	Query        string // with its arguments behind it
	Ours, Theirs string // the answers: an error, or how many rows and the first 100 of them
}

func log(d *Difference) {
	slog.Warn("folio: another answer in shadow mode", "query", d.Query, "folio", d.Ours, "other", d.Theirs)
}

type shadowDriver struct{}

func (d shadowDriver) Open(name string) (driver.Conn, error) {
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

func (shadowDriver) OpenConnector(name string) (driver.Connector, error) {
	path, options, _ := strings.Cut(name, "?")
	values, err := url.ParseQuery(options)
	if err != nil {
		return nil, fmt.Errorf("the options of the database: %w", err)
	}
	other := values.Get("shadow")
	if other == "" {
		return nil, fmt.Errorf("the name of the database has no option shadow=NAME")
	}
	if values.Del("shadow"); len(values) > 0 {
		path += "?" + values.Encode()
	}
	return Open(path, other, log)
}

// A connector makes connections whose queries are compared.
type connector struct {
	ours   driver.Connector
	theirs *sql.DB
	file   *sqlitefile.DB
	report func(*Difference)

	equal, different, skipped atomic.Int64
}

// Open opens a database. Name is the name of a data source of the driver "folio", and other the
// name of a registered driver. The function report must be safe for concurrent use.
func Open(name, other string, report func(*Difference)) (driver.Connector, error) {
	ours, err := sqlite.Driver{}.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(name, "file:"), "?")
	theirs, err := sql.Open(other, path)
	if err != nil {
		return nil, errors.Join(err, closeOf(ours))
	}
	file, err := sqlitefile.Open(path, &sqlitefile.Options{ReadOnly: true})
	if err != nil {
		return nil, errors.Join(err, theirs.Close(), closeOf(ours))
	}
	return &connector{ours: ours, theirs: theirs, file: file, report: report}, nil
}

func closeOf(c driver.Connector) error {
	if c, ok := c.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}

// Close closes the database.
func (c *connector) Close() error {
	return errors.Join(closeOf(c.ours), c.theirs.Close(), c.file.Close())
}

// Driver returns the driver "folio-shadow".
func (c *connector) Driver() driver.Driver { return shadowDriver{} }

// Counts returns how many queries of all connections had equal and different answers, and how many
// were not compared: "folio" refused them, the program left rows unread, or the file had no common
// state.
func (c *connector) Counts() (equal, different, skipped int64) {
	return c.equal.Load(), c.different.Load(), c.skipped.Load()
}

// Connect returns a connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.ours.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: inner, c: c}, nil
}

// A conn is a connection of the driver "folio", and one of the other driver.
type conn struct {
	driver.Conn
	c      *connector
	theirs *sql.Conn // nil until it is needed
	within bool      // a transaction of the program
}

func (c *conn) Close() error {
	err := c.Conn.Close()
	if c.theirs != nil {
		err = errors.Join(err, c.theirs.Close())
	}
	return err
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	inner, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{inner, c, query}, nil
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	c.within = true
	return &transaction{tx, c}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *conn) ResetSession(ctx context.Context) error {
	if inner, ok := c.Conn.(driver.SessionResetter); ok {
		return inner.ResetSession(ctx)
	}
	return nil
}

// A transaction is one of the program, whose statements are not compared.
type transaction struct {
	driver.Tx
	c *conn
}

func (t *transaction) Commit() error {
	t.c.within = false
	return t.Tx.Commit()
}

func (t *transaction) Rollback() error {
	t.c.within = false
	return t.Tx.Rollback()
}

// A stmt is a statement, whose queries are those of its connection.
type stmt struct {
	driver.Stmt
	c     *conn
	query string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.query, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.query, args)
}

package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// bg is the context of statements. With a context that can be cancelled, database/sql would start a
// goroutine for each of them. Transactions are cancelled as wholes.
var bg = context.Background()

// A conn is one connection with the statements that it has prepared. It belongs to one transaction
// at a time.
type conn struct {
	sql    *sql.Conn
	stmts  [numStatements]*sql.Stmt
	cloned [numStatements]*sql.Stmt // of clonedStatements
	clones bool                     // the transaction uses these

	// For the writer: changing says that a transaction that changes something runs, and failed is
	// the error that keeps it from being committed. SQLite may have rolled the transaction back by
	// then. It would commit each further statement at once, so none is run.
	changing bool
	failed   error

	// Of a reader: the snapshot that it saw last (see versionProbe).
	seen    int64
	version uint64

	// Room for the numbers of a row.
	numbers [nodeColumns]int64
	dests   [nodeColumns]any
}

// connect takes a connection from the database and sets it up.
func (s *Store) connect(ctx context.Context, setup ...string) (*conn, error) {
	one, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{sql: one}
	for i := range c.numbers {
		c.dests[i] = &c.numbers[i]
	}
	for _, query := range append([]string{"PRAGMA busy_timeout = 0"}, setup...) {
		if err := s.retry(ctx, func() error { return c.run(query) }); err != nil {
			c.discard()
			return nil, err
		}
	}
	return c, nil
}

// discard closes the connection itself: it does not go back to the DB, whose other users would find
// it set up.
func (c *conn) discard() {
	for _, stmts := range [...][numStatements]*sql.Stmt{c.stmts, c.cloned} {
		for _, stmt := range stmts {
			if stmt != nil {
				_ = stmt.Close()
			}
		}
	}
	_ = c.sql.Raw(func(any) error { return driver.ErrBadConn })
}

// run runs a statement that is needed once. Some pragmas return a row.
func (c *conn) run(query string, args ...any) error {
	rows, err := c.sql.QueryContext(bg, query, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		continue
	}
	return errors.Join(rows.Err(), rows.Close())
}

// ask returns the first column of the first row that a query which is needed once gives.
func (c *conn) ask(query string, dest any) error {
	return c.sql.QueryRowContext(bg, query).Scan(dest)
}

// prepared returns a statement, which is refused in a transaction that has failed.
func (c *conn) prepared(i statement) (*sql.Stmt, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	stmts, texts := &c.stmts, &statements
	if c.clones && clonedStatements[i] != "" {
		stmts, texts = &c.cloned, &clonedStatements
	}
	if stmts[i] == nil {
		stmt, err := c.sql.PrepareContext(bg, texts[i])
		if err != nil {
			return nil, err
		}
		stmts[i] = stmt
	}
	return stmts[i], nil
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(i statement, args ...any) (int64, error) {
	stmt, err := c.prepared(i)
	if err != nil {
		return 0, c.explain(err)
	}
	result, err := stmt.ExecContext(bg, args...)
	if err != nil {
		return 0, c.explain(err)
	}
	n, err := result.RowsAffected()
	return n, c.explain(err)
}

// query runs a query.
func (c *conn) query(i statement, args ...any) (*sql.Rows, error) {
	stmt, err := c.prepared(i)
	if err != nil {
		return nil, c.explain(err)
	}
	rows, err := stmt.QueryContext(bg, args...)
	return rows, c.explain(err)
}

// row scans the only row of a query, or returns fs.ErrNotExist.
func (c *conn) row(i statement, dests []any, args ...any) error {
	rows, err := c.query(i, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return c.explain(err)
		}
		return fs.ErrNotExist
	}
	return scan(rows, dests)
}

// explain is explain of an error of this connection, after which SQLite may have ended the
// transaction.
func (c *conn) explain(err error) error {
	err = explain(err)
	if c.changing && c.failed == nil && endsTransaction(err) {
		c.failed = err
	}
	return err
}

// scan scans a row. A value of another type than the schema's means that the volume is damaged.
func scan(rows *sql.Rows, dests []any) error {
	if err := rows.Scan(dests...); err != nil {
		return store.Damaged("%v", err)
	}
	return nil
}

// number returns the number that a query gives.
func (c *conn) number(i statement, args ...any) (int64, error) {
	err := c.row(i, c.dests[:1], args...)
	return c.numbers[0], err
}

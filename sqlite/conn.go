package sqlite

import (
	"context"
	"iter"

	"github.com/foliofs/folio/sqlitefile"
)

// A Conn is a connection of one's own, for BEGIN and COMMIT as statements, and for settings by
// PRAGMA that are nobody else's. It belongs to one goroutine at a time.
type Conn struct{ runner }

// Conn returns a connection. The caller must close it.
func (db *DB) Conn(ctx context.Context) (*Conn, error) {
	c, err := db.connect(ctx)
	if err != nil {
		return nil, asError(err)
	}
	return &Conn{runner{db, c}}, nil
}

// Close rolls back the transaction of the connection, if there is one.
func (c *Conn) Close() error {
	if c.c != nil {
		c.c.reset()
		c.c = nil
	}
	return nil
}

// InTransaction reports whether BEGIN or SAVEPOINT has begun a transaction that has not ended.
func (c *Conn) InTransaction() bool { return c.c != nil && c.c.txn.open }

// A runner runs statements on a connection, which is nil after the end.
type runner struct {
	db *DB
	c  *connection
}

// Exec runs statements, as [DB.Exec] does.
func (r *runner) Exec(ctx context.Context, sql string, args ...any) (Result, error) {
	if r.c == nil {
		return Result{}, asError(sqlitefile.ErrClosed)
	}
	err := r.c.exec(ctx, sql, namedValues(args))
	return r.c.result(), asError(err)
}

// Query runs a query, as [DB.Query] does. The loop may change the database: rows that are left are
// read into memory before that.
func (r *runner) Query(ctx context.Context, sql string, args ...any) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if r.c == nil {
			yield(nil, asError(sqlitefile.ErrClosed))
			return
		}
		r.c.rows(ctx, sql, namedValues(args))(yield)
	}
}

// QueryRow runs a query and copies the columns of its first row into dest, as [DB.QueryRow] does.
func (r *runner) QueryRow(ctx context.Context, dest []any, sql string, args ...any) (ok bool, err error) {
	for row, err := range r.Query(ctx, sql, args...) {
		if err == nil {
			err = row.Scan(dest...)
		}
		return err == nil, asError(err)
	}
	return false, nil
}

// Columns returns the names of the columns of a statement, which it does not run.
func (r *runner) Columns(ctx context.Context, sql string) ([]string, error) {
	if r.c == nil {
		return nil, asError(sqlitefile.ErrClosed)
	}
	p, err := r.c.prepare(ctx, sql)
	return p.columns, asError(err)
}

// release gives the connection back, which rolls back a transaction that is open still.
func (r *runner) release() {
	r.db.release(r.c)
	r.c = nil
}

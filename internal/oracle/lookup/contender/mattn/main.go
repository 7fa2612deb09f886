// Contender mattn looks rows up through github.com/mattn/go-sqlite3 and database/sql.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/lookup/bench"
)

func main() {
	bench.Main(bench.Contender{Name: "mattn", Open: open, Query: query})
}

type conn struct {
	db     *sql.DB
	conn   *sql.Conn
	byID   *sql.Stmt
	byPath *sql.Stmt
	raw    sql.RawBytes
}

// open pins one connection of a pool that has no other; it has no mutex, as only one goroutine uses it.
func open(o bench.Options) (bench.Conn, error) {
	db, err := sql.Open("sqlite3", "file:"+o.DB+"?mode=ro&_mutex=no")
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	c := &conn{db: db}
	if c.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if o.Mmap >= 0 {
		if _, err := c.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA mmap_size = %d", o.Mmap)); err != nil {
			return nil, err
		}
	}
	if c.byID, err = c.conn.PrepareContext(ctx, "SELECT path FROM folder_paths WHERE id = ?"); err != nil {
		return nil, err
	}
	c.byPath, err = c.conn.PrepareContext(ctx, "SELECT id FROM folder_paths WHERE path = ?")
	return c, err
}

func (c *conn) Path(id int64, buf []byte) ([]byte, error) {
	rows, err := c.byID.Query(id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, errors.Join(errNoRow, rows.Err())
	}
	if err := rows.Scan(&c.raw); err != nil {
		return nil, err
	}
	return append(buf, c.raw...), nil
}

func (c *conn) ID(path string) (id int64, err error) {
	err = c.byPath.QueryRow(path).Scan(&id)
	return id, err
}

func (c *conn) Close() error { return errors.Join(c.conn.Close(), c.db.Close()) }

var errNoRow = errors.New("no row")

func query(b bench.Conn, q string) (v string, err error) {
	err = b.(*conn).conn.QueryRowContext(context.Background(), q).Scan(&v)
	return v, err
}

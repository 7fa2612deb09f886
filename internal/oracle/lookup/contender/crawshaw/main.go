//go:build cgo

// Contender crawshaw looks rows up through crawshaw.io/sqlite.
package main

import (
	"errors"
	"fmt"

	"crawshaw.io/sqlite"

	"github.com/foliofs/folio/internal/oracle/lookup/bench"
)

func main() {
	bench.Main(bench.Contender{Name: "crawshaw", Open: open, Query: query})
}

type conn struct {
	db       *sqlite.Conn
	byID     *sqlite.Stmt
	byPath   *sqlite.Stmt
	overflow [256]byte
}

// open opens for reading only: the package's default flags would turn the file into WAL mode.
func open(o bench.Options) (bench.Conn, error) {
	db, err := sqlite.OpenConn(o.DB, sqlite.SQLITE_OPEN_READONLY|sqlite.SQLITE_OPEN_NOMUTEX)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db}
	if o.Mmap >= 0 {
		if _, err := query(c, fmt.Sprintf("PRAGMA mmap_size = %d", o.Mmap)); err != nil {
			return nil, err
		}
	}
	if c.byID, err = db.Prepare("SELECT path FROM folder_paths WHERE id = ?"); err != nil {
		return nil, err
	}
	c.byPath, err = db.Prepare("SELECT id FROM folder_paths WHERE path = ?")
	return c, err
}

func (c *conn) Path(id int64, buf []byte) ([]byte, error) {
	c.byID.BindInt64(1, id)
	ok, err := c.byID.Step()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoRow
	}
	n := c.byID.ColumnBytes(0, c.overflow[:])
	return append(buf, c.overflow[:n]...), c.byID.Reset()
}

func (c *conn) ID(path string) (int64, error) {
	c.byPath.BindText(1, path)
	ok, err := c.byPath.Step()
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errNoRow
	}
	id := c.byPath.ColumnInt64(0)
	return id, c.byPath.Reset()
}

func (c *conn) Close() error { return c.db.Close() }

var errNoRow = errors.New("no row")

func query(b bench.Conn, q string) (string, error) {
	s, _, err := b.(*conn).db.PrepareTransient(q)
	if err != nil {
		return "", err
	}
	defer s.Finalize()
	ok, err := s.Step()
	if !ok || err != nil {
		return "", err
	}
	return s.ColumnText(0), nil
}

// Contender folio looks rows up through sqlitefile.
package main

import (
	"context"
	"errors"
	"sync"

	"github.com/foliofs/folio/internal/oracle/lookup/bench"
	"github.com/foliofs/folio/sqlitefile"
)

func main() {
	bench.Main(bench.Contender{Name: "folio", Open: open})
}

// shared is the one database that all goroutines read.
var shared struct {
	once sync.Once
	db   *sqlitefile.DB
	err  error
}

// A conn keeps the functions that it gives to View, and where they leave what they found.
type conn struct {
	db    *sqlitefile.DB
	ctx   context.Context
	id    int64
	path  string
	buf   []byte
	getFn func(*sqlitefile.Rx) error
	idFn  func(*sqlitefile.Rx) error
}

func open(o bench.Options) (bench.Conn, error) {
	shared.once.Do(func() { shared.db, shared.err = sqlitefile.Open(o.DB, nil) })
	c := &conn{db: shared.db, ctx: context.Background()}
	c.getFn, c.idFn = c.get, c.find
	return c, shared.err
}

func (c *conn) get(rx *sqlitefile.Rx) error {
	t, err := rx.Table("folder_paths")
	if err != nil {
		return err
	}
	row, ok, err := t.Get(c.id)
	if err != nil {
		return err
	}
	if !ok {
		return errNoRow
	}
	path, err := row.Bytes(1)
	c.buf = append(c.buf, path...)
	return err
}

func (c *conn) find(rx *sqlitefile.Rx) error {
	ix, err := rx.Index("sqlite_autoindex_folder_paths_1")
	if err != nil {
		return err
	}
	id, ok, err := ix.Find(c.path)
	if err == nil && !ok {
		err = errNoRow
	}
	c.id = id
	return err
}

var errNoRow = errors.New("no row")

func (c *conn) Path(id int64, buf []byte) ([]byte, error) {
	c.id, c.buf = id, buf
	err := c.db.View(c.ctx, c.getFn)
	return c.buf, err
}

func (c *conn) ID(path string) (int64, error) {
	c.path = path
	err := c.db.View(c.ctx, c.idFn)
	return c.id, err
}

// Close closes the database when the first of the connections goes; it waits for the reads of the others.
func (c *conn) Close() error { return c.db.Close() }

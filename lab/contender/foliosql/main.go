// Contender foliosql drives package sqlite: SQL by Folio's own engine, in pure Go, as a driver of
// database/sql and by its own API. The package does not write yet, so it takes part where rows are
// read.
package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"strconv"

	"github.com/foliofs/folio/sqlite"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "foliosql", Module: "github.com/foliofs/folio",
		APIs: []workload.API{
			{
				Name: "sql", Title: "folio/sqlite, database/sql", Kind: "engine", Ours: true, Queries: openPool, AnySQL: true,
				Notes: []string{"raw and prepared are alike: the database keeps what it compiled by its text"},
			},
			{
				Name: "native", Title: "folio/sqlite, its own API", Kind: "engine", Ours: true, Queries: openDB, AnySQL: true,
				Notes: []string{"raw and prepared are the same; each query has a transaction of its own, there is none over several"},
			},
		},
	})
}

var ctx = context.Background()

// A base knows the page size, the only setting of a database that is read.
type base struct{ settings map[string]string }

// newBase reads the page size from the header of a database.
func newBase(path string) (b base, err error) {
	f, err := os.Open(path)
	if err != nil {
		return b, err
	}
	var head [18]byte
	_, err = f.ReadAt(head[:], 0)
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16 // which two bytes do not hold
	}
	return base{map[string]string{"page_size": strconv.Itoa(size)}}, errors.Join(err, f.Close())
}

func (b base) Settings() (map[string]string, error) { return b.settings, nil }

// pool is a database of database/sql, which all goroutines share, as the driver recommends.
type pool struct {
	base
	db *sql.DB
}

func openPool(j *workload.Job) (workload.Queries, error) {
	b, err := newBase(j.DB)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("folio", harness.URI(j.DB))
	return &pool{b, db}, err
}

func (p *pool) Close() error { return p.db.Close() }

func (p *pool) Querier(s *workload.Statement, mode string) (workload.Querier, error) {
	c, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	q := &poolQuerier{base: p.base, conn: c, text: s.SQL}
	q.call.Aim(s.Columns)
	if mode == "prepared" {
		q.prepares++
		q.stmt, err = c.PrepareContext(ctx, s.SQL)
	}
	return q, err
}

// A poolQuerier is a connection of the pool.
type poolQuerier struct {
	base
	conn     *sql.Conn
	text     string
	stmt     *sql.Stmt // nil if the text is given with each query
	tx       *sql.Tx
	call     harness.Call
	prepares int64
}

func (q *poolQuerier) Query(args []workload.Value, row func(workload.Row) error) (err error) {
	var rows *sql.Rows
	if list := q.call.Args(args); q.stmt != nil {
		rows, err = q.stmt.QueryContext(ctx, list...)
	} else {
		q.prepares++
		rows, err = q.conn.QueryContext(ctx, q.text, list...)
	}
	if err != nil {
		return err
	}
	return q.call.Take(rows, row)
}

// Begin begins a transaction on the connection, in which its statements then run.
func (q *poolQuerier) Begin() (err error) {
	q.tx, err = q.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	return err
}

func (q *poolQuerier) End() error { return q.tx.Commit() }

func (q *poolQuerier) Prepares() int64 { return q.prepares }

func (q *poolQuerier) Close() error {
	var err error
	if q.stmt != nil {
		err = q.stmt.Close()
	}
	return errors.Join(err, q.conn.Close())
}

// database is one that the own API reads.
type database struct {
	base
	db *sqlite.DB
}

func openDB(j *workload.Job) (workload.Queries, error) {
	b, err := newBase(j.DB)
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(j.DB, nil)
	return &database{b, db}, err
}

func (d *database) Close() error { return d.db.Close() }

func (d *database) Querier(s *workload.Statement, _ string) (workload.Querier, error) {
	return &querier{base: d.base, db: d.db, text: s.SQL}, nil
}

type querier struct {
	base
	db   *sqlite.DB
	text string
	args []any
	row  row
}

// A row is one of the API, whose Bytes gives every value as a text.
type row struct{ *sqlite.Row }

func (r *row) Int(column int) int64 { return r.Int64(column) }

func (q *querier) Query(args []workload.Value, fn func(workload.Row) error) error {
	q.args = q.args[:0]
	for _, a := range args {
		q.args = append(q.args, a.Any())
	}
	for r, err := range q.db.Query(ctx, q.text, q.args...) {
		if err != nil {
			return err
		}
		q.row.Row = r
		if err := fn(&q.row); err != nil {
			return err
		}
	}
	return nil
}

var errNoTransaction = errors.New("it has no transaction over several queries")

func (q *querier) Begin() error { return errNoTransaction }

func (q *querier) End() error { return errNoTransaction }

func (q *querier) Prepares() int64 { return 0 }

func (q *querier) Close() error { return nil }

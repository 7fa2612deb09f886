package kit

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// A Pool is a driver of database/sql. DSN gives the name by which it opens a database; no settings are in it but for access.
type Pool struct {
	Driver string
	DSN    func(path string, access Access) string
	// Rewrite, if it is not nil, puts a statement into the words of another database than SQLite.
	Rewrite func(query string) string
}

// URI is the name of a file as SQLite, and all drivers of it, take it whatever is in it: https://sqlite.org/uri.html. A plain name is cut off at a question
// mark by some. What comes behind is a question mark and parameters.
func URI(path string) string { return "file:" + escape.Replace(path) }

var escape = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

// Open opens a pool that never has more than one connection, and pins that.
func (p Pool) Open(path string, access Access) (Conn, error) {
	db, err := sql.Open(p.Driver, p.DSN(path, access))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &sqlConn{db: db, conn: c, rewrite: p.Rewrite}, nil
}

// AsDriver makes a Driver of a Pool, which can probe too.
func (p Pool) AsDriver(busy func(error) bool) Driver {
	return Driver{Open: p.Open, Probe: p.Probe, Busy: busy}
}

type sqlConn struct {
	db      *sql.DB
	conn    *sql.Conn
	rewrite func(string) string
	call    Call
}

func (c *sqlConn) Raw(query string, columns []Kind, args []Value, row func(Row) error) error {
	query = c.words(query)
	list := c.call.Args(args)
	if row == nil {
		_, err := c.conn.ExecContext(context.Background(), query, list...)
		return err
	}
	rows, err := c.conn.QueryContext(context.Background(), query, list...)
	if err != nil {
		return err
	}
	c.call.Aim(columns)
	return c.call.Take(rows, row)
}

func (c *sqlConn) words(query string) string {
	if c.rewrite == nil {
		return query
	}
	return c.rewrite(query)
}

func (c *sqlConn) Prepare(query string, columns []Kind) (Stmt, error) {
	s, err := c.conn.PrepareContext(context.Background(), c.words(query))
	if err != nil {
		return nil, err
	}
	out := &sqlStmt{stmt: s}
	out.call.Aim(columns)
	return out, nil
}

func (c *sqlConn) Close() error { return errors.Join(c.conn.Close(), c.db.Close()) }

type sqlStmt struct {
	stmt *sql.Stmt
	call Call
}

func (s *sqlStmt) Run(args []Value, row func(Row) error) error {
	list := s.call.Args(args)
	if row == nil {
		_, err := s.stmt.Exec(list...)
		return err
	}
	rows, err := s.stmt.Query(list...)
	if err != nil {
		return err
	}
	return s.call.Take(rows, row)
}

func (s *sqlStmt) Close() error { return s.stmt.Close() }

// A Call keeps what a call of database/sql needs: its arguments, and where its row goes. It is a Row.
type Call struct {
	args  []any
	ints  []int64
	bytes []sql.RawBytes
	dest  []any
}

// Args puts arguments as database/sql takes them.
func (c *Call) Args(args []Value) []any {
	c.args = c.args[:0]
	for _, a := range args {
		c.args = append(c.args, a.Any())
	}
	return c.args
}

// Aim makes the places where a row of such columns goes.
func (c *Call) Aim(columns []Kind) {
	if len(c.dest) != len(columns) {
		c.ints, c.bytes, c.dest = make([]int64, len(columns)), make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	}
	for i, k := range columns {
		if k == Integer {
			c.dest[i] = &c.ints[i]
		} else {
			c.dest[i] = &c.bytes[i]
		}
	}
}

// Take passes on every row, and closes.
func (c *Call) Take(rows *sql.Rows, row func(Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(c.dest...); err != nil {
			return err
		}
		if err := row(c); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// Int is an integer of the current row.
func (c *Call) Int(column int) int64 { return c.ints[column] }

// Bytes is a text or BLOB of the current row.
func (c *Call) Bytes(column int) []byte { return c.bytes[column] }

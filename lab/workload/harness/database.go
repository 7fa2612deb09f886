package harness

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/foliofs/folio/lab/workload"
)

// A Pool is a driver of database/sql.
type Pool struct {
	Driver string                                  // the name under which it is registered
	DSN    func(path string, access Access) string // names a database; nil is the package's DSN
	Busy   func(err error) bool                    // as in Driver
}

// DSN names a database with a URI whose only setting is the access.
func DSN(path string, access Access) string {
	if access == Read {
		return URI(path) + "?mode=ro"
	}
	return URI(path)
}

// Busy reports whether an error of a driver says that another connection holds a lock. E is the
// driver's type of errors, with a result code of SQLite that may be an extended one.
func Busy[E interface {
	error
	Code() int
}](err error) bool {
	var e E
	if !errors.As(err, &e) {
		return false
	}
	const busy, locked = 5, 6
	code := e.Code() & 0xff
	return code == busy || code == locked
}

// Main is the main of a contender that has this one API. Title names the library.
func (p Pool) Main(name, module, title string) {
	Main(Contender{Name: name, Module: module, APIs: []workload.API{p.SQL("sql", title+", database/sql")}})
}

// URI is the name of a file in a form that all drivers of SQLite take, whatever characters it has:
// https://sqlite.org/uri.html. Some drivers cut a plain name off at a question mark. The caller may
// append a question mark and parameters.
func URI(path string) string { return "file:" + escape.Replace(path) }

var escape = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23")

// Open opens a pool that never has more than one connection, and pins that.
func (p Pool) Open(path string, access Access) (Conn, error) {
	dsn := DSN
	if p.DSN != nil {
		dsn = p.DSN
	}
	db, err := sql.Open(p.Driver, dsn(path, access))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &sqlConn{db: db, conn: c}, nil
}

// SQL makes an API of the driver; name and title are as in workload.API.
func (p Pool) SQL(name, title string) workload.API {
	return Driver{Open: p.Open, Probe: p.Probe, Busy: p.Busy}.SQL(name, title)
}

type sqlConn struct {
	db   *sql.DB
	conn *sql.Conn
	call Call
}

func (c *sqlConn) Raw(query string, columns []workload.Kind, args []workload.Value, row func(workload.Row) error) error {
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

func (c *sqlConn) Prepare(query string, columns []workload.Kind) (Stmt, error) {
	s, err := c.conn.PrepareContext(context.Background(), query)
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

func (s *sqlStmt) Run(args []workload.Value, row func(workload.Row) error) error {
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

// A Call keeps the arguments of a call of database/sql, and the destinations of its row. It is a
// Row.
type Call struct {
	args  []any
	ints  []int64
	bytes []sql.RawBytes
	dest  []any
}

// Args puts arguments as database/sql takes them.
func (c *Call) Args(args []workload.Value) []any {
	c.args = c.args[:0]
	for _, a := range args {
		c.args = append(c.args, a.Any())
	}
	return c.args
}

// Aim makes the places where a row of such columns goes.
func (c *Call) Aim(columns []workload.Kind) {
	if len(c.dest) != len(columns) {
		c.ints, c.bytes, c.dest = make([]int64, len(columns)), make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	}
	for i, k := range columns {
		if k == workload.Integer {
			c.dest[i] = &c.ints[i]
		} else {
			c.dest[i] = &c.bytes[i]
		}
	}
}

// Take passes on every row, and closes.
func (c *Call) Take(rows *sql.Rows, row func(workload.Row) error) error {
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

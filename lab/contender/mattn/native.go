//go:build cgo

package main

import (
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

// open opens a connection of the driver itself, without the pool of database/sql.
func open(path string, access harness.Access) (harness.Conn, error) {
	c, err := (&sqlite3.SQLiteDriver{}).Open(dsn(path, access))
	if err != nil {
		return nil, err
	}
	return &conn{c.(*sqlite3.SQLiteConn)}, nil
}

type conn struct{ c *sqlite3.SQLiteConn }

func (c *conn) Raw(query string, columns []workload.Kind, args []workload.Value, row func(workload.Row) error) error {
	s, err := c.Prepare(query, columns)
	if err != nil {
		return err
	}
	return errors.Join(s.Run(args, row), s.Close())
}

func (c *conn) Prepare(query string, columns []workload.Kind) (harness.Stmt, error) {
	s, err := c.c.Prepare(query)
	if err != nil {
		return nil, err
	}
	return &stmt{s: s.(*sqlite3.SQLiteStmt), values: make([]driver.Value, len(columns))}, nil
}

func (c *conn) Close() error { return c.c.Close() }

type stmt struct {
	s      *sqlite3.SQLiteStmt
	args   []driver.Value
	values []driver.Value
	bytes  []byte
}

func (s *stmt) Run(args []workload.Value, row func(workload.Row) error) error {
	s.args = s.args[:0]
	for _, a := range args {
		s.args = append(s.args, a.Any())
	}
	if row == nil {
		_, err := s.s.Exec(s.args)
		return err
	}
	rows, err := s.s.Query(s.args)
	if err != nil {
		return err
	}
	for {
		err := rows.Next(s.values)
		if err == io.EOF {
			return rows.Close()
		}
		if err == nil {
			err = row(s)
		}
		if err != nil {
			return errors.Join(err, rows.Close())
		}
	}
}

func (s *stmt) Close() error { return s.s.Close() }

func (s *stmt) Int(column int) int64 {
	n, _ := s.values[column].(int64)
	return n
}

func (s *stmt) Bytes(column int) []byte {
	switch v := s.values[column].(type) {
	case string:
		s.bytes = append(s.bytes[:0], v...)
		return s.bytes
	case []byte:
		return v
	case int64:
		s.bytes = strconv.AppendInt(s.bytes[:0], v, 10)
		return s.bytes
	case float64:
		s.bytes = strconv.AppendFloat(s.bytes[:0], v, 'g', -1, 64)
		return s.bytes
	case bool: // the driver makes it of a column that is declared so
		if v {
			return []byte("1")
		}
		return []byte("0")
	case time.Time: // and this
		s.bytes = v.AppendFormat(s.bytes[:0], time.RFC3339Nano)
		return s.bytes
	}
	return nil
}

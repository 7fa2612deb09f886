package main

import (
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

// open opens a connection of the package itself.
func open(path string, access harness.Access) (harness.Conn, error) {
	flags := sqlite3.OPEN_READONLY
	if access == harness.Write {
		flags = sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	}
	c, err := sqlite3.OpenFlags(path, flags)
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ c *sqlite3.Conn }

func (c conn) Raw(query string, _ []workload.Kind, args []workload.Value, row func(workload.Row) error) error {
	s, _, err := c.c.Prepare(query)
	if err != nil {
		return err
	}
	return errors.Join((&stmt{s: s}).Run(args, row), s.Close())
}

func (c conn) Prepare(query string, _ []workload.Kind) (harness.Stmt, error) {
	s, _, err := c.c.Prepare(query)
	if err != nil {
		return nil, err
	}
	return &stmt{s: s}, nil
}

func (c conn) Close() error { return c.c.Close() }

// A stmt lends its rows the bytes where SQLite keeps them.
type stmt struct{ s *sqlite3.Stmt }

func (t *stmt) Run(args []workload.Value, row func(workload.Row) error) error {
	for i, a := range args {
		if err := t.bind(i+1, a); err != nil {
			return err
		}
	}
	for t.s.Step() {
		if row == nil {
			continue
		}
		if err := row(t); err != nil {
			return errors.Join(err, t.s.Reset())
		}
	}
	if err := t.s.Err(); err != nil {
		_ = t.s.Reset() // it says the same again
		return err
	}
	return t.s.Reset()
}

func (t *stmt) bind(param int, v workload.Value) error {
	switch v.Kind {
	case workload.Integer:
		return t.s.BindInt64(param, v.Int)
	case workload.Text:
		return t.s.BindText(param, v.Text)
	default:
		return t.s.BindBlob(param, v.Bytes)
	}
}

func (t *stmt) Close() error { return t.s.Close() }

func (t *stmt) Int(column int) int64 { return t.s.ColumnInt64(column) }

func (t *stmt) Bytes(column int) []byte { return t.s.ColumnRawBlob(column) }

package harness

import (
	"errors"

	"github.com/foliofs/folio/lab/workload"
)

// A Stepper is a prepared statement of a driver that follows SQLite's C interface: it binds, steps
// and resets. Parameters count from 1, columns from 0.
type Stepper interface {
	BindInt64(param int, v int64)
	BindText(param int, v string)
	BindBytes(param int, v []byte)
	Step() (row bool, err error)
	Reset() error
	Finalize() error
	ColumnInt64(column int) int64
	ColumnLen(column int) int
	ColumnBytes(column int, buf []byte) int
}

// stepped is the Stmt of a Stepper.
type stepped struct {
	s   Stepper
	buf []byte
}

func (t *stepped) Run(args []workload.Value, row func(workload.Row) error) error {
	for i, a := range args {
		switch a.Kind {
		case workload.Integer:
			t.s.BindInt64(i+1, a.Int)
		case workload.Text:
			t.s.BindText(i+1, a.Text)
		default:
			t.s.BindBytes(i+1, a.Bytes)
		}
	}
	for {
		ok, err := t.s.Step()
		if err == nil && ok && row != nil {
			err = row(t)
		}
		if err != nil {
			return errors.Join(err, quiet(t.s.Reset(), err))
		}
		if !ok {
			return t.s.Reset()
		}
	}
}

// quiet drops an error that repeats the first one: after a failed step, Reset fails in the same
// way.
func quiet(again, first error) error {
	if again == nil || again.Error() == first.Error() {
		return nil
	}
	return again
}

func (t *stepped) Close() error { return t.s.Finalize() }

func (t *stepped) Int(column int) int64 { return t.s.ColumnInt64(column) }

// Bytes copies the column, as these drivers offer no view of it. There is one buffer: it is valid
// until the next call.
func (t *stepped) Bytes(column int) []byte {
	n := t.s.ColumnLen(column)
	if n > cap(t.buf) {
		t.buf = make([]byte, n, n+n/2)
	}
	return t.buf[:t.s.ColumnBytes(column, t.buf[:n])]
}

// StepConn is a Conn of such a driver. Transient prepares a statement past the driver's cache.
type StepConn[S Stepper] struct {
	Transient func(query string) (S, int, error)
	Cached    func(query string) (S, error)
	CloseFunc func() error
}

// Raw implements Conn.
func (c *StepConn[S]) Raw(query string, _ []workload.Kind, args []workload.Value, row func(workload.Row) error) error {
	s, _, err := c.Transient(query)
	if err != nil {
		return err
	}
	t := &stepped{s: s}
	return errors.Join(t.Run(args, row), t.Close())
}

// Prepare implements Conn.
func (c *StepConn[S]) Prepare(query string, _ []workload.Kind) (Stmt, error) {
	s, err := c.Cached(query)
	if err != nil {
		return nil, err
	}
	return &stepped{s: s}, nil
}

// Close implements Conn.
func (c *StepConn[S]) Close() error { return c.CloseFunc() }

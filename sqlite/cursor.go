package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/exec"
	"github.com/foliofs/folio/sqlitefile"
)

// A cursor reads the rows of a statement. A statement without rows has a cursor without columns.
type cursor struct {
	c       *connection
	ctx     context.Context
	rx      *sqlitefile.Rx
	own     bool // the transaction is the query's
	s       *statement
	end     func() // of waiting for ctx; may be nil
	columns []bind.Column

	kept [][]record.Value // rows in memory; s is nil then
	err  error            // behind them
}

// open begins to run the query.
func (r *cursor) open(u *unit, args []driver.NamedValue) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	s, err := r.c.compiled(r.rx, u)
	if err != nil {
		return err
	}
	r.s, r.columns = s, s.query.Columns
	s.query.SetSortMemory(r.c.sortMemory)
	if err := s.setNamed(args); err != nil {
		return err
	}
	if r.ctx.Done() != nil {
		r.end = s.cancelWith(r.ctx)
	}
	return s.failed(r.ctx, s.query.Open(r.rx, s.params, &s.cancel))
}

// next returns the next row, if there is one. It is valid until the call after it.
func (r *cursor) next() (values []record.Value, ok bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	return r.step()
}

// step is next for callers that guard against faults by themselves.
func (r *cursor) step() (values []record.Value, ok bool, err error) {
	if r.s == nil {
		if len(r.kept) == 0 {
			return nil, false, r.err
		}
		values, r.kept = r.kept[0], r.kept[1:]
		return values, true, nil
	}
	ok, err = r.s.query.Next()
	switch {
	case err != nil:
		return nil, false, r.s.failed(r.ctx, err)
	case !ok: // the file may have been replaced
		return nil, false, r.rx.Guard(func() error { return nil })
	}
	return r.s.query.Values(), true, nil
}

// finish reads the rows that are left, which nobody wants, and ends the query.
func (r *cursor) finish() error {
	for {
		if _, ok, err := r.next(); err != nil || !ok {
			r.close()
			return err
		}
	}
}

// close ends the query. It may be called again.
func (r *cursor) close() {
	if r.end != nil {
		r.end()
		r.end = nil
	}
	if r.s != nil {
		r.c.engine.cache.put(r.s)
		r.s = nil
	}
	if r.rx != nil {
		if r.own {
			r.rx.End()
		}
		r.rx = nil
		r.c.cursors = slices.DeleteFunc(r.c.cursors, func(other *cursor) bool { return other == r })
	}
	r.kept = nil
}

// buffer reads the rows to come into memory: the transaction that they lie in is about to change or
// to end.
func (r *cursor) buffer() {
	var kept [][]record.Value
	for {
		row, ok, err := r.copyNext()
		if err != nil || !ok {
			r.close()
			r.kept, r.err = kept, err
			return
		}
		kept = append(kept, row)
	}
}

// keep copies the rows that a change returns.
func (r *cursor) keep(s *exec.Change) error {
	r.columns = s.Columns
	for {
		ok, err := s.Next()
		if err != nil || !ok {
			return err
		}
		r.kept = append(r.kept, copyRow(s.Values()))
	}
}

// copyNext returns a copy of the next row.
func (r *cursor) copyNext() (row []record.Value, ok bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	values, ok, err := r.step()
	if err != nil || !ok {
		return nil, false, err
	}
	return copyRow(values), true, nil
}

// copyRow returns values whose bytes are nobody else's.
func copyRow(values []record.Value) []record.Value {
	row := slices.Clone(values)
	for i, v := range row {
		switch v.Kind() {
		case record.Text:
			row[i] = record.OfText(slices.Clone(v.Bytes()))
		case record.Blob:
			row[i] = record.OfBlob(slices.Clone(v.Bytes()))
		}
	}
	return row
}

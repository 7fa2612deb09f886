package main

import (
	"cmp"
	"fmt"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

// rows is a store of the rows of a table.
type rows struct {
	store
	table *workload.Table
}

func openRows(j *workload.Job, t *workload.Table) (workload.Rows, error) {
	s, err := newStore(j, t.Schema("INTEGER"))
	return rows{s, t}, err
}

func (r rows) Session() (workload.RowSession, error) {
	s := &session{rows: r}
	s.putFn, s.setFn, s.deleteFn = s.put, s.set, s.delete
	return s, nil
}

// A session keeps the functions that it gives to the database, with their arguments. So a change
// makes no closure, as a program would that changes many rows.
type session struct {
	rows
	putFn, setFn, deleteFn func(*sqlitefile.Tx) error

	key    int64
	row    []workload.Value // to put
	column int
	value  workload.Value // of the column
}

// Close leaves the database open: it belongs to the store.
func (s *session) Close() error { return nil }

func (s *session) Put(row []workload.Value) error {
	s.row = row
	return s.db.Update(s.ctx, s.putFn)
}

func (s *session) put(tx *sqlitefile.Tx) error {
	t, err := tx.Table(s.table.Name)
	if err != nil {
		return err
	}
	return s.insert(t, s.row)
}

// insert stores a row. Each length has a call of its own, because values in a list would be copied
// to the heap, one by one.
func (s *session) insert(t sqlitefile.TableWriter, r []workload.Value) (err error) {
	switch n := len(r); {
	case n == 2 && s.table.Replaces:
		return t.Put(r[0].Int, nil, r[1].Any())
	case n == 4:
		_, err = t.Insert(r[0].Int, r[1].Any(), r[2].Any(), r[3].Any())
	case n == 5:
		_, err = t.Insert(r[0].Int, r[1].Any(), r[2].Any(), r[3].Any(), r[4].Any())
	default:
		err = fmt.Errorf("a row of %d columns", n)
	}
	return err
}

func (s *session) Set(key int64, column int, v workload.Value) error {
	s.key, s.column, s.value = key, column, v
	return s.db.Update(s.ctx, s.setFn)
}

func (s *session) set(tx *sqlitefile.Tx) error {
	t, err := tx.Table(s.table.Name)
	if err != nil {
		return err
	}
	ok, err := t.Set(s.key, s.column, s.value.Any())
	return s.found(ok, err)
}

func (s *session) Delete(key int64) error {
	s.key = key
	return s.db.Update(s.ctx, s.deleteFn)
}

func (s *session) delete(tx *sqlitefile.Tx) error {
	t, err := tx.Table(s.table.Name)
	if err != nil {
		return err
	}
	ok, err := t.Delete(s.key)
	return s.found(ok, err)
}

// found returns an error if there was no row with the key.
func (s *session) found(ok bool, err error) error {
	if err == nil && !ok {
		err = fmt.Errorf("no row %d", s.key)
	}
	return err
}

func (s *session) Load(n int, fn func(i int) []workload.Value) error {
	return s.db.Update(s.ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table(s.table.Name)
		if err != nil {
			return err
		}
		for i := range n {
			if err := s.insert(t, fn(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *session) Each(fn func(row workload.Row) error) error {
	return s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table(s.table.Name)
		if err != nil {
			return err
		}
		var r row
		for at, err := range t.All() {
			if err != nil {
				return err
			}
			r.at = &at
			if err := cmp.Or(fn(&r), r.err); err != nil {
				return err
			}
		}
		return nil
	})
}

// A row is a row of the engine, and the first error of a column.
type row struct {
	at  *sqlitefile.Row
	err error
}

func (r *row) Int(column int) int64 {
	if column == 0 {
		return r.at.Rowid()
	}
	n, err := r.at.Int64(column)
	r.err = cmp.Or(r.err, err)
	return n
}

func (r *row) Bytes(column int) []byte {
	b, err := r.at.Bytes(column)
	r.err = cmp.Or(r.err, err)
	return b
}

func (s *session) By(column int, fn func(key int64) error) error {
	return s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		ix, err := rx.Index(s.table.Name + "_" + s.table.Columns[column].Name)
		if err != nil {
			return err
		}
		for at, err := range ix.All() {
			if err != nil {
				return fmt.Errorf("index of column %d: %w", column, err)
			}
			if err := fn(at.Rowid()); err != nil {
				return err
			}
		}
		return nil
	})
}

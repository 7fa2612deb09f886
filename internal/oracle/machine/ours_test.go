package machine

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/internal/oracle/ours"
	"github.com/foliofs/folio/sqlitefile"
)

// engine is the side of ours.
type engine struct {
	db *sqlitefile.DB
	tx *sqlitefile.Tx // that is open, or nil

	calls int // of update and nested: every second one does without a function
}

func (e *engine) Close() error {
	if e == nil || e.db == nil {
		return nil
	}
	return e.db.Close()
}

func (e *engine) update(fn func() error) error {
	if e.calls++; e.calls%2 == 0 {
		return e.explicit(fn)
	}
	return e.db.Update(ctx, func(tx *sqlitefile.Tx) error {
		e.tx = tx
		defer func() { e.tx = nil }()
		return fn()
	})
}

// explicit is update by BeginUpdate, Commit and Rollback.
func (e *engine) explicit(fn func() error) error {
	tx, err := e.db.BeginUpdate(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	e.tx = tx
	defer func() { e.tx = nil }()
	if err := tx.Guard(fn); err != nil {
		if back := tx.Rollback(); back != nil {
			return errors.Join(err, back)
		}
		return err
	}
	return tx.Commit()
}

// saved is nested by a savepoint. Some savepoints are set twice, and each rollback is done twice.
func (e *engine) saved(fn func() error) error {
	s, err := e.tx.Savepoint()
	if err == nil && e.calls%4 == 0 {
		_, err = e.tx.Savepoint()
	}
	if err != nil {
		return err
	}
	if err := fn(); err != nil {
		return errors.Join(err, s.Rollback(), s.Rollback(), s.Release())
	}
	return s.Release()
}

func (e *engine) nested(fn func() error) error {
	if e.calls++; e.calls%2 == 0 {
		return e.saved(fn)
	}
	return e.tx.Nested(func(*sqlitefile.Tx) error { return fn() })
}

// within calls fn in the transaction that is open, or in one of its own.
func (e *engine) within(fn func() error) error {
	if e.tx != nil {
		return fn()
	}
	return e.update(fn)
}

// on calls fn with a table.
func (e *engine) on(t *table, fn func(w sqlitefile.TableWriter) error) error {
	return e.within(func() error {
		w, err := e.tx.Table(t.name)
		if err != nil {
			return err
		}
		return fn(w)
	})
}

func (e *engine) exec(sql string) error {
	return e.within(func() error { return e.tx.Exec(sql) })
}

func (e *engine) insert(t *table, values []any) (rowid int64, err error) {
	err = e.on(t, func(w sqlitefile.TableWriter) (err error) { rowid, err = w.Insert(values...); return err })
	if err != nil {
		rowid = 0
	}
	return rowid, err
}

func (e *engine) insertRowid(t *table, rowid int64, values []any) error {
	return e.on(t, func(w sqlitefile.TableWriter) error { return w.InsertRowid(rowid, values...) })
}

func (e *engine) replace(t *table, rowid int64, values []any) (n int64, err error) {
	err = e.on(t, func(w sqlitefile.TableWriter) error {
		ok, err := w.Update(rowid, values...)
		n = count(ok && err == nil)
		return err
	})
	return n, err
}

func (e *engine) set(t *table, rowid int64, column int, value any) (n int64, err error) {
	err = e.on(t, func(w sqlitefile.TableWriter) error {
		ok, err := w.Set(rowid, column, value)
		n = count(ok && err == nil)
		return err
	})
	return n, err
}

func (e *engine) put(t *table, rowid int64, values []any) error {
	return e.on(t, func(w sqlitefile.TableWriter) error { return w.Put(rowid, values...) })
}

func (e *engine) remove(t *table, rowid int64) (n int64, err error) {
	err = e.on(t, func(w sqlitefile.TableWriter) error {
		ok, err := w.Delete(rowid)
		n = count(ok)
		return err
	})
	return n, err
}

func (e *engine) removeRange(t *table, low, high int64) (n int64, err error) {
	err = e.on(t, func(w sqlitefile.TableWriter) (err error) { n, err = w.DeleteRange(low, high); return err })
	return n, err
}

func (e *engine) putKey(t *table, values []any) error {
	return e.on(t, func(w sqlitefile.TableWriter) error { return w.PutKey(values...) })
}

func (e *engine) removeKey(t *table, key []any) (n int64, err error) {
	err = e.on(t, func(w sqlitefile.TableWriter) (err error) { n, err = w.DeleteKey(key...); return err })
	return n, err
}

func count(ok bool) int64 {
	if ok {
		return 1
	}
	return 0
}

// rows returns all rows of a table in order, which are the same backwards.
func (e *engine) rows(t *table) (list []string, err error) {
	err = e.view(func(rx *sqlitefile.Rx) error {
		r, err := rx.Table(t.name)
		if err != nil {
			return err
		}
		var back []string
		for row, err := range r.All() {
			if list, err = appendText(list, &row, len(t.columns), err); err != nil {
				return err
			}
		}
		for row, err := range r.Backward() {
			if back, err = appendText(back, &row, len(t.columns), err); err != nil {
				return err
			}
		}
		slices.Reverse(back)
		return difference(t.name+" backward", list, back)
	})
	return list, err
}

// entries returns all entries of an index in order.
func (e *engine) entries(_ *table, x *index) (list []string, err error) {
	err = e.view(func(rx *sqlitefile.Rx) error {
		r, err := rx.Index(x.name)
		if err != nil {
			return err
		}
		for row, err := range r.All() {
			if list, err = appendText(list, &row, len(x.terms), err); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

func (e *engine) view(fn func(rx *sqlitefile.Rx) error) error {
	if e.tx != nil {
		return fn(&e.tx.Rx)
	}
	return e.db.View(ctx, fn)
}

// appendText appends a row as a text: its rowid and its first n columns.
func appendText(list []string, row *sqlitefile.Row, n int, err error) ([]string, error) {
	if err != nil {
		return list, err
	}
	var values []judge.Value
	if values, err = ours.AppendRow(values, row, func(i int) bool { return i < n }); err != nil {
		return list, err
	}
	return append(list, textOf(row.Rowid(), values)), nil
}

func textOf(rowid int64, values []judge.Value) string {
	var b strings.Builder
	fmt.Fprint(&b, rowid, ":")
	for _, v := range values {
		switch v.Kind {
		case judge.Text, judge.Blob:
			fmt.Fprintf(&b, " %v[%d]%08x %x", v.Kind, len(v.Bytes), crc32.ChecksumIEEE(v.Bytes), v.Bytes[:min(20, len(v.Bytes))])
		default:
			fmt.Fprint(&b, " ", v)
		}
	}
	return b.String()
}

// difference returns an error with the first of two lists' differences.
func difference(what string, got, want []string) error {
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Errorf("%s: %d rows and %d; row %d is\n%.1000s\nand\n%.1000s", what, len(got), len(want), i, g, w)
		}
	}
	return nil
}

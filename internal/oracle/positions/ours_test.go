package positions

import (
	"errors"
	"iter"

	"github.com/foliofs/folio/sqlitefile"
)

// An ourTx is a transaction of ours as an engine.
type ourTx struct {
	tx     *sqlitefile.Tx
	tables []*table
}

type rows = iter.Seq2[sqlitefile.Row, error]

// iterate returns the rows of a loop.
func (o *ourTx) iterate(s *step) (rows, error) {
	t := o.tables[s.table]
	x := &t.trees[s.tree]
	if x.index != "" {
		index, err := o.tx.Index(x.index)
		return entries(index.Prefix, index.Range, index.RangeBackward, s), err
	}
	table, err := o.tx.Rx.Table(t.name)
	switch {
	case t.keyed:
		return entries(table.Prefix, table.RangeKey, table.RangeKeyBackward, s), err
	case s.back && s.where.kind == 0:
		return table.Backward(), err
	case s.back:
		return backward(table, s), err
	case s.where.kind == 0:
		return table.All(), err
	case s.where.kind == 1:
		return table.Range(s.where.low, s.where.high-1), err
	case s.where.kind == 2:
		return table.Range(s.where.low, s.where.low), err
	}
	return table.Range(s.where.low, 1<<62), err
}

// entries returns the rows of a loop over keys.
func entries(prefix func(...any) rows, forward, back func(low, high sqlitefile.Bound) rows, s *step) rows {
	var low, high sqlitefile.Bound
	switch s.where.kind {
	case 1:
		low, high = sqlitefile.Including(s.where.low), sqlitefile.Excluding(s.where.high)
	case 2:
		if !s.back {
			return prefix(s.where.low)
		}
		low, high = sqlitefile.Including(s.where.low), sqlitefile.Including(s.where.low)
	case 3:
		low = sqlitefile.Including(s.where.low)
	}
	if s.back {
		return back(low, high)
	}
	return forward(low, high)
}

// backward yields the rows of a part of a table with rowids, the last one first, by a cursor.
func backward(t sqlitefile.Table, s *step) rows {
	end := map[int]int64{1: s.where.high, 2: s.where.low + 1, 3: 1 << 62}[s.where.kind]
	return func(yield func(sqlitefile.Row, error) bool) {
		c := t.Cursor()
		ok, err := c.SeekRowid(end)
		if err == nil && ok {
			ok, err = c.Prev()
		} else if err == nil {
			ok, err = c.Last()
		}
		for ; ok && err == nil; ok, err = c.Prev() {
			row, rowErr := c.Row()
			if rowErr == nil && row.Rowid() < s.where.low {
				return
			}
			if !yield(row, rowErr) {
				return
			}
		}
		if err != nil {
			yield(sqlitefile.Row{}, err)
		}
	}
}

func (o *ourTx) rows(s *step, fn func(id int64) error) error {
	all, err := o.iterate(s)
	if err != nil {
		return err
	}
	t := o.tables[s.table]
	for row, err := range all {
		if err != nil {
			return err
		}
		id, err := o.id(t, &t.trees[s.tree], &row)
		if err != nil {
			return err
		}
		if err := fn(id); err != nil {
			return err
		}
	}
	return nil
}

// id returns the id of a row of a tree.
func (o *ourTx) id(t *table, x *tree, row *sqlitefile.Row) (int64, error) {
	switch {
	case x.index == "":
		return row.Int64(0)
	case !t.keyed:
		return row.Rowid(), nil
	}
	index, err := o.tx.Index(x.index)
	if err != nil {
		return 0, err
	}
	for i, name := range index.Columns() {
		if name == "id" {
			return row.Int64(i)
		}
	}
	return 0, errors.New("no id in the entry")
}

// refusedByUs returns errRefused for an error of a constraint.
func refusedByUs(err error) error {
	if errors.Is(err, sqlitefile.ErrConstraint) {
		return errRefused
	}
	return err
}

func (o *ourTx) insert(table int, v row) error {
	t, err := o.tx.Table(o.tables[table].name)
	if err == nil {
		_, err = t.Insert(v...)
	}
	return refusedByUs(err)
}

// values returns the values of the row with an id, copied; nil if there is none.
func (o *ourTx) values(table int, id int64) (row, error) {
	var found row
	err := o.each(table, id, id, func(v row) error { found = v; return nil })
	return found, err
}

// each calls fn with copies of the rows with some ids, after it has read them all.
func (o *ourTx) each(table int, low, high int64, fn func(v row) error) error {
	t, err := o.tx.Rx.Table(o.tables[table].name)
	if err != nil {
		return err
	}
	all := t.All()
	if !o.tables[table].keyed {
		all = t.Range(low, high)
	}
	var list []row
	for r, err := range all {
		if err != nil {
			return err
		}
		id, err := r.Int64(0)
		if err != nil {
			return err
		}
		if id < low || id > high {
			continue
		}
		v := make(row, r.Len())
		for i := range v {
			value, err := r.Value(i)
			if err != nil {
				return err
			}
			v[i] = value.Any()
		}
		list = append(list, v)
	}
	for _, v := range list {
		if err := fn(v); err != nil {
			return err
		}
	}
	return nil
}

func (o *ourTx) set(table int, id int64, column string, v any) error {
	i := columnOf(column)
	if !o.tables[table].keyed {
		t, err := o.tx.Table(o.tables[table].name)
		if err == nil {
			_, err = t.Set(id, i, v)
		}
		return refusedByUs(err)
	}
	old, err := o.values(table, id)
	if err != nil || old == nil {
		return err
	}
	now := append(row(nil), old...)
	now[i] = v
	return o.change(table, old, now)
}

func (o *ourTx) replace(table int, v row) error {
	if !o.tables[table].keyed {
		t, err := o.tx.Table(o.tables[table].name)
		if err == nil {
			_, err = t.Update(v[0].(int64), v...)
		}
		return refusedByUs(err)
	}
	old, err := o.values(table, v[0].(int64))
	if err != nil || old == nil {
		return err
	}
	return o.change(table, old, v)
}

// change changes a row of a table WITHOUT ROWID, whose key may change, too.
func (o *ourTx) change(table int, old, now row) error {
	t, err := o.tx.Table(o.tables[table].name)
	if err != nil {
		return err
	}
	if key := o.key(table, old); same(key, o.key(table, now)) {
		return refusedByUs(t.PutKey(now...))
	}
	return refusedByUs(o.tx.Nested(func(*sqlitefile.Tx) error {
		_, err := t.DeleteKey(o.key(table, old)...)
		if err == nil {
			_, err = t.Insert(now...)
		}
		return err
	}))
}

func same(a, b []any) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// key returns the primary key of a row.
func (o *ourTx) key(table int, v row) (key []any) {
	for _, column := range o.tables[table].trees[0].key {
		key = append(key, v[columnOf(column)])
	}
	return key
}

func (o *ourTx) remove(table int, low, high int64) error {
	t, err := o.tx.Table(o.tables[table].name)
	if err != nil {
		return err
	}
	if !o.tables[table].keyed {
		_, err = t.DeleteRange(low, high)
		return refusedByUs(err)
	}
	return refusedByUs(o.each(table, low, high, func(v row) error {
		_, err := t.DeleteKey(o.key(table, v)...)
		return err
	}))
}

func (o *ourTx) removeAll(table int) error { return o.remove(table, -1<<62, 1<<62) }

func (o *ourTx) part(back bool, fn func() error) error {
	if back {
		s, err := o.tx.Savepoint()
		if err != nil {
			return err
		}
		err = fn()
		return errors.Join(err, s.Rollback(), s.Release())
	}
	var kept error // what ends the loops around the part does not take it back
	err := o.tx.Nested(func(*sqlitefile.Tx) error {
		if kept = fn(); kept == nil || errors.Is(kept, errEnough) {
			return nil
		}
		return kept
	})
	if err == nil {
		err = kept
	}
	return err
}

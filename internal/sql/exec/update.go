package exec

import (
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// A setter gives rows the values of SET.
type setter struct {
	columns  []int
	stored   []int       // the same, with the column that is the rowid by its own number
	values   []evaluator // nil if the values come with the keys
	where    *evaluator
	row      *rowSource
	excluded *rowSource // of DO UPDATE
	out      []record.Value
}

func (c *compiler) setter(s *bind.Set) (n *setter, err error) {
	n = &setter{columns: s.Columns, stored: []int{}, out: make([]record.Value, len(s.Columns))}
	for _, column := range s.Columns {
		if column == catalog.Rowid {
			column = s.Row.Table.Alias
		}
		if column >= 0 {
			n.stored = append(n.stored, column)
		}
	}
	if s.Values == nil {
		n.row = &rowSource{table: s.Row.Table, over: make([]record.Value, len(s.Row.Table.Columns)+1)}
		return n, nil
	}
	n.row = c.rowSource(s.Row)
	if s.Excluded != nil {
		n.excluded = c.rowSource(s.Excluded)
	}
	if n.values, err = c.evaluators(s.Values.Cores[0].Results); err != nil {
		return nil, err
	}
	if last := len(n.values) - 1; s.Where {
		n.where, n.values = &n.values[last], n.values[:last]
	}
	return n, nil
}

// internalWriter is how a statement changes rows.
type internalWriter interface {
	Row(k private.RowKey) (sqlitefile.Row, bool, error)
	Replace(old private.RowKey, rowid int64, columns []int, values ...any) (private.Outcome, error)
}

// change gives the row with a key its new values, and returns its new key. It reports whether the
// row was changed: it may be gone, its conflict ignored, or the condition of DO UPDATE false.
func (s *setter) change(m *machine, w *rowWriter, writer internalWriter, key private.RowKey) (private.RowKey, bool, error) {
	row, ok, err := writer.Row(key)
	if err != nil || !ok {
		return key, false, err
	}
	if err := s.row.read(&row); err != nil {
		return key, false, err
	}
	if s.where != nil {
		v, err := s.where.value(m)
		if err != nil || !value.True(v) {
			return key, false, err
		}
	}
	for i := range s.values {
		if s.out[i], err = s.values[i].value(m); err != nil {
			return key, false, err
		}
	}
	for i := range w.values {
		w.values[i] = nil
		if c := &w.table.Columns[i]; !c.Generated && i != w.table.Alias && s.row.over[i].Kind() != record.Null {
			w.values[i] = s.row.over[i]
		}
	}
	rowid := key.Rowid
	for i, column := range s.columns {
		v := s.out[i]
		switch {
		case column == catalog.Rowid:
			if rowid, err = rowidOf(v); err != nil {
				return key, false, err
			}
		case v.Kind() == record.Null:
			w.values[column] = nil
		default:
			w.values[column] = v
		}
	}
	for i, v := range w.values { // the old row may be overwritten while the new one is put in its place
		if v, ok := v.(record.Value); ok {
			w.values[i] = v.Clone()
		}
	}
	out, err := writer.Replace(key, rowid, s.stored, w.values...)
	if err != nil || out.Ignored {
		return key, false, err
	}
	w.Changes++
	return out.Row, true, nil
}

// An updater changes rows.
type updater struct {
	m         *machine
	w         *rowWriter
	keys      rows
	count     int // of values of a key
	set       *setter
	returning *returning
}

func (c *compiler) updater(b *bind.Change, w *rowWriter) (*updater, error) {
	u := &updater{m: c.m, w: w, count: b.Keys}
	var err error
	if u.keys, err = c.keys(b, w, b.Set); err != nil {
		return nil, err
	}
	if u.set, err = c.setter(b.Set); err == nil {
		u.returning, err = c.returning(b)
	}
	return u, err
}

func (u *updater) open() error { return u.keys.open() }

func (u *updater) values() []record.Value { return u.returning.values() }

func (u *updater) next() (bool, error) {
	for {
		ok, err := u.keys.next()
		if !ok || err != nil {
			return false, err
		}
		row := u.keys.values()
		if u.set.values == nil {
			copy(u.set.out, row[u.count:])
		}
		key, ok, err := u.set.change(u.m, u.w, u.w.writer.Internal(private.Key{}), u.w.keyOf(row, u.count))
		if err != nil {
			return false, err
		}
		if ok {
			if u.returning != nil {
				err = u.returning.ofKey(u.m, u.w, key)
			}
			return true, err
		}
		if err := u.m.alive(); err != nil {
			return false, err
		}
	}
}

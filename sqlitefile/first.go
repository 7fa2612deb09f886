package sqlitefile

import "fmt"

// First returns a writer of the same table that takes the values of its first n columns only. It is for a program whose tables others may have given
// further columns: a row that is there keeps what it has in these, and a new one gets their defaults. A default that is an expression is ErrUnsupported.
func (t TableWriter) First(n int) TableWriter {
	if t.first = n; n == len(t.def.shape.fields) {
		t.first = 0
	}
	return t
}

// complete adds to the values of the first columns those that a row has in the others or, if it is nil, the defaults.
func (t TableWriter) complete(row *Row, values []any) ([]any, error) {
	shape := &t.def.shape
	if len(values) != t.first || t.first > len(shape.fields) {
		return nil, fmt.Errorf("table %s: %d values were given, for its first %d columns of %d", shape.name, len(values), t.first, len(shape.fields))
	}
	all := append(make([]any, 0, len(shape.fields)), values...)
	for i := t.first; i < len(shape.fields); i++ {
		v, err := t.further(row, i)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// further returns what a row has in a column or, if it is nil, the column's default.
func (t TableWriter) further(row *Row, i int) (Value, error) {
	if row != nil {
		return row.Value(i)
	}
	c := &t.def.shape.fields[i]
	if c.expr {
		return Value{}, fmt.Errorf("%s.%s: %w: a new row, and an expression as its default", t.Name(), c.name, ErrUnsupported)
	}
	return c.dflt, nil
}

// updateFirst is Update for the first columns.
func (t TableWriter) updateFirst(rowid int64, values []any) (ok bool, err error) {
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return false, err
	}
	if values, err = t.complete(&row, values); err != nil {
		return false, err
	}
	t.first = 0
	return t.Update(rowid, values...)
}

package sqlitefile

import (
	"fmt"
	"reflect"
	"time"

	"github.com/foliofs/folio/internal/record"
)

// firstColumns returns a writer of the same table that takes the values of its first n columns
// only. It is for a program whose tables other programs may have given further columns: a row that
// is there keeps its values of these, and a new one gets their defaults, or a new rowid if the
// INTEGER PRIMARY KEY is one of them. CURRENT_TIME, CURRENT_DATE and CURRENT_TIMESTAMP are the time
// of each insertion. A default with a function that the engine does not know is ErrUnsupported.
func (t TableWriter) firstColumns(n int) TableWriter {
	if t.first = n; n == len(t.def.shape.fields) {
		t.first = 0
	}
	return t
}

// complete adds to the values of the first columns the row's values in the other columns or, if it
// is nil, the defaults.
func (t TableWriter) complete(row *Row, values []any) ([]any, error) {
	shape := &t.def.shape
	if t.named != nil {
		return t.completeNamed(row, values)
	}
	if len(values) != t.first || t.first > len(shape.fields) {
		return nil, fmt.Errorf("table %s: %d values were given, for its first %d columns of %d", shape.name, len(values), t.first, len(shape.fields))
	}
	all := make([]any, 0, len(shape.fields))
	for _, v := range values {
		all = append(all, own(v))
	}
	for i := t.first; i < len(shape.fields); i++ {
		v, err := t.further(row, i)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// own returns a value in memory of its own: if a caller's values went into a slice on the heap, all
// values of all callers would go there.
func own(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case int64:
		return v
	case *int64:
		if v == nil {
			return nil
		}
		return *v
	case int:
		return v
	case string:
		return v
	case []byte:
		return v
	case float64:
		return v
	case bool:
		return v
	}
	return ownOther(v)
}

// ownOther returns a value that cannot be stored, in place of another of its type, which is refused
// by the same words.
func ownOther(v any) any {
	switch v := v.(type) {
	case int32:
		return v
	case uint32:
		return v
	case uint64:
		return v
	case uint:
		return v
	case int16:
		return v
	case uint16:
		return v
	case int8:
		return v
	case uint8:
		return v
	case float32:
		return v
	case record.Value:
		return v
	case time.Time:
		return v
	}
	return reflect.Zero(reflect.TypeOf(v)).Interface()
}

// further returns the value of a row in a column or, if the row is nil, the column's default.
func (t TableWriter) further(row *Row, i int) (record.Value, error) {
	if t.def.ddl.Columns[i].Generated != nil {
		return record.Value{}, nil
	}
	if row != nil {
		return row.value(i)
	}
	d := &t.def.defaults[i]
	if !d.known {
		return record.Value{}, fmt.Errorf("%s.%s: %w: its default is an expression that the engine does not know", t.Name(), t.def.shape.fields[i].name, ErrUnsupported)
	}
	return d.at(&t.tx.Rx), nil
}

// updatePartial is Update for a part of the columns.
func (t TableWriter) updatePartial(rowid int64, values []any) (ok bool, err error) {
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return false, err
	}
	if values, err = t.complete(&row, values); err != nil {
		return false, err
	}
	if t.named != nil && len(t.named.places) == 1 {
		t.only = t.named.places[0] + 1
	}
	t.first, t.named = 0, nil
	return t.Update(rowid, values...)
}

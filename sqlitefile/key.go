package sqlitefile

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// keyRoom is how many values of a key fit without an allocation.
const keyRoom = 4

// makeKey turns the arguments of a caller into a key. buf is room for the values.
func (rx *Rx) makeKey(buf []record.Value, name string, columns []record.KeyColumn, parts []any) (record.Key, error) {
	if len(parts) == 0 {
		return record.Key{}, errNoKey(name)
	}
	if len(parts) > len(columns) {
		return record.Key{}, fmt.Errorf("%s: %d values for a key of %d columns", name, len(parts), len(columns))
	}
	for i, p := range parts {
		v, ok := rx.keyValue(p)
		if !ok {
			return record.Key{}, fmt.Errorf("%s: a %v cannot be a key", name, reflect.TypeOf(p)) // p itself must not escape
		}
		if columns[i].Collation == record.UnknownCollation {
			return record.Key{}, fmt.Errorf("%s: %w: the collation of key column %d", name, ErrUnsupported, i)
		}
		buf = append(buf, v)
	}
	return record.Key{Values: buf, Columns: columns}, nil
}

// makeBound is makeKey for a key that rows are compared with one after the other. In a write
// transaction the caller's bytes may be in a page that changes meanwhile.
func (rx *Rx) makeBound(buf []record.Value, name string, columns []record.KeyColumn, parts []any) (record.Key, error) {
	k, err := rx.makeKey(buf, name, columns, parts)
	if rx.pager.Writing() {
		for i := range k.Values {
			k.Values[i] = k.Values[i].Clone()
		}
	}
	return k, err
}

// errNoKey returns the error for a key without values, which every entry would begin with: a caller
// that passes on an empty slice seldom means all of them.
func errNoKey(name string) error {
	return fmt.Errorf("%s: no values for a key: give at least the first one, or use All or First", name)
}

// keyValue makes a value that is stored nowhere yet. Texts are converted to the encoding of the
// database.
func (rx *Rx) keyValue(p any) (record.Value, bool) {
	switch p := p.(type) {
	case string:
		return rx.textValue(record.TextBytes(p)), true
	case int64:
		return record.OfInt(p), true
	case int:
		return record.OfInt(int64(p)), true
	case uint32:
		return record.OfInt(int64(p)), true
	case float64:
		return record.OfFloat(p), true
	case []byte:
		return record.OfBlob(p), true
	case Value:
		return p.v, true
	case record.Value:
		return p, true
	case time.Time:
		text, ok := record.AppendTime(nil, p)
		return rx.textValue(text), ok
	case nil:
		return record.Value{}, true
	}
	return keyNumber(p)
}

// keyNumber is keyValue for the types that are rare in keys.
func keyNumber(p any) (record.Value, bool) {
	n := int64(0)
	switch p := p.(type) {
	case bool:
		if p {
			n = 1
		}
	case int32:
		n = int64(p)
	case int16:
		n = int64(p)
	case int8:
		n = int64(p)
	case uint16:
		n = int64(p)
	case uint8:
		n = int64(p)
	case uint64:
		n = int64(p)
	case uint:
		n = int64(p)
	case *int64:
		if p == nil {
			return record.Value{}, true
		}
		n = *p
	case float32:
		return record.OfFloat(float64(p)), true
	default:
		return record.Value{}, false
	}
	return record.OfInt(n), !unsignedBeyond(p)
}

// unsignedBeyond reports whether p is an unsigned integer that no INTEGER holds.
func unsignedBeyond(p any) bool {
	switch p := p.(type) {
	case uint64:
		return p > math.MaxInt64
	case uint:
		return uint64(p) > math.MaxInt64
	}
	return false
}

func (rx *Rx) textValue(b []byte) record.Value {
	if enc := rx.pager.Header.Encoding; enc != format.UTF8 {
		b = record.UTF16Of(b, enc)
	}
	return record.OfTextIn(b, rx.pager.Header.Encoding)
}

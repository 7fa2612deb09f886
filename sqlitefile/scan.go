package sqlitefile

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Scan copies the columns from the first on into dest, and converts them as Scan of database/sql
// does, as long as that loses nothing: a number and the text of it are converted to each other, for
// example, and the text 'abc' is not an integer. A destination is one of these:
//
//   - a pointer to a string, []byte, bool, float64, float32 (which rounds) or any integer type of Go: a NULL becomes the zero value
//   - a pointer to a [time.Time], for what [Row.Time] reads: a NULL becomes the zero time
//   - a pointer to one of these pointers, as **int64: a NULL becomes nil
//   - a pointer to an any or a [Value]: these take everything, and the bytes of a Value are valid until the transaction ends
//   - a Scanner of database/sql, as *sql.NullString
//   - nil, which passes over a column
//
// There may be fewer destinations than columns. It returns an error that names the column and
// matches [ErrType] if a value does not fit into its destination, and an error if there are more
// destinations than columns.
func (r *Row) Scan(dest ...any) error {
	if len(dest) > r.Len() {
		return fmt.Errorf("%s: %d destinations for %d columns", r.shape.name, len(dest), r.Len())
	}
	for i, d := range dest {
		if d == nil {
			continue
		}
		v, err := r.Value(i)
		if err != nil {
			return err
		}
		if !assign(d, &v) {
			if err := assignOther(d, &v); err != nil {
				return fmt.Errorf("%s: %w", r.columnName(i), err)
			}
		}
	}
	return nil
}

// assign stores a value where its type is that of the destination, or NULL.
func assign(dest any, v *Value) bool {
	ok := true
	switch d := dest.(type) {
	case *int64:
		if ok = v.kind == Integer || v.kind == Null; ok {
			*d = v.num
		}
	case *int:
		if ok = (v.kind == Integer || v.kind == Null) && int64(int(v.num)) == v.num; ok {
			*d = int(v.num)
		}
	case *float64:
		if ok = v.kind == Float || v.kind == Null; ok {
			*d = v.real
		}
	case *string:
		if ok = v.kind >= Text || v.kind == Null; ok {
			*d = v.Text()
		}
	case *[]byte:
		if ok = v.kind >= Text || v.kind == Null; ok {
			*d = append([]byte(nil), v.data...)
		}
	case *Value:
		*d = *v
	case *any:
		*d = v.Any()
	default:
		return false
	}
	return ok
}

// A scanner is the Scanner of database/sql.
type scanner interface{ Scan(src any) error }

// assignOther stores a value that has to be converted, or in a destination of another type.
func assignOther(dest any, v *Value) error {
	switch d := dest.(type) {
	case scanner:
		return d.Scan(v.Any())
	case *time.Time:
		t, ok := v.time()
		if !ok {
			return mismatch(v, "a time.Time")
		}
		*d = t
		return nil
	}
	d := reflect.ValueOf(dest)
	if d.Kind() != reflect.Pointer || d.IsNil() {
		return mismatch(v, fmt.Sprintf("a %T, which is no pointer to anything", dest))
	}
	d = d.Elem()
	if d.Kind() != reflect.Pointer {
		return convert(d, v)
	}
	if v.kind == Null {
		d.SetZero()
		return nil
	}
	inner := reflect.New(d.Type().Elem())
	if !assign(inner.Interface(), v) {
		if err := assignOther(inner.Interface(), v); err != nil {
			return err
		}
	}
	d.Set(inner)
	return nil
}

// convert stores a value in d by way of its text, as database/sql does.
func convert(d reflect.Value, v *Value) error {
	ok := false
	switch d.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(v.number(), 10, d.Type().Bits())
		if ok = err == nil; ok {
			d.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(v.number(), 10, d.Type().Bits())
		if ok = err == nil; ok {
			d.SetUint(n)
		}
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(v.number(), d.Type().Bits())
		if ok = err == nil; ok {
			d.SetFloat(f)
		}
	case reflect.Bool:
		b, err := strconv.ParseBool(v.truth())
		if ok = err == nil; ok {
			d.SetBool(b)
		}
	case reflect.String:
		d.SetString(v.text())
		ok = true
	case reflect.Slice:
		if ok = d.Type().Elem().Kind() == reflect.Uint8; ok {
			d.SetBytes(append([]byte(nil), v.text()...))
		}
	}
	if !ok {
		return mismatch(v, "the type "+d.Type().String())
	}
	return nil
}

// text returns a value as text; a number as database/sql formats it, NULL as "".
func (v *Value) text() string {
	switch v.kind {
	case Integer:
		return strconv.FormatInt(v.num, 10)
	case Float:
		return strconv.FormatFloat(v.real, 'g', -1, 64)
	}
	return v.Text()
}

// number is text, where NULL is 0 and a REAL that is an integer is written as one.
func (v *Value) number() string {
	if n, ok := v.whole(); ok {
		return strconv.FormatInt(n, 10)
	}
	return v.text()
}

// whole returns the integer that a number is, if it is one, and 0 for NULL.
func (v *Value) whole() (n int64, ok bool) {
	if f := v.real; v.kind == Float {
		return int64(f), f >= math.MinInt64 && f < 1<<63 && f == math.Trunc(f)
	}
	return v.num, v.kind <= Integer
}

// truth is the text of a value that may be a bool.
func (v *Value) truth() string {
	switch {
	case v.kind == Null:
		return "false"
	case v.kind == Float:
		return ""
	}
	return v.text()
}

// mismatch returns the error for a value that is not of the wanted type.
func mismatch(v *Value, want string) error {
	return fmt.Errorf("%w: %s into %s", ErrType, v.brief(), want)
}

// brief returns a value and its kind for an error, cut off if it is long.
func (v *Value) brief() string {
	const most = 32
	switch v.kind {
	case Null:
		return "NULL"
	case Text:
		if s := v.Text(); len(s) <= most {
			return fmt.Sprintf("the TEXT %q", s)
		}
		return fmt.Sprintf("a TEXT of %d bytes", len(v.data))
	case Blob:
		return fmt.Sprintf("a BLOB of %d bytes", len(v.data))
	}
	return fmt.Sprintf("the %v %s", v.kind, v.text())
}

// columnName returns the name of column i with that of its table or index, for errors.
func (r *Row) columnName(i int) string {
	if name := r.shape.fields[i].name; name != "" {
		return r.shape.name + "." + name
	}
	return fmt.Sprintf("%s: column %d", r.shape.name, i)
}

// asInt64 returns a value that is no integer as one: a REAL that is one, and NULL as 0.
func (r *Row) asInt64(i int, v *Value) (int64, error) {
	if n, ok := v.whole(); ok {
		return n, nil
	}
	return 0, r.mistyped(i, v, "an int64")
}

// asFloat64 returns a value that is no REAL as one.
func (r *Row) asFloat64(i int, v *Value) (float64, error) {
	if v.kind > Float {
		return 0, r.mistyped(i, v, "a float64")
	}
	return float64(v.num), nil
}

// mistyped returns the error for a value that an accessor does not return.
func (r *Row) mistyped(i int, v *Value, want string) error {
	return fmt.Errorf("%s: %w", r.columnName(i), mismatch(v, want))
}

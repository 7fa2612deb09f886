package sqlitefile

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/foliofs/folio/internal/record"
)

// Scan copies the columns from the first on into dest, and converts them as Scan of database/sql
// does, as long as that loses nothing: a number and the text of it are converted to each other, for
// example, and the text 'abc' is not an integer. A destination is one of these:
//
//   - a pointer to a string, []byte, bool, float64, float32 (which rounds) or any integer type of
//     Go: a NULL becomes the zero value
//   - a pointer to a [time.Time], for every form that [Row.Time] reads: a NULL becomes the zero
//     time
//   - a pointer to one of these pointers, as **int64: a NULL becomes nil
//   - a pointer to an any or a [Value]: these take everything, and the bytes of a Value are valid
//     until the transaction ends
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
		v, err := r.value(i)
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

// assign stores a value if it matches the type of the destination, or is NULL.
func assign(dest any, v *record.Value) bool {
	ok := true
	switch d := dest.(type) {
	case *int64:
		if ok = d != nil && (v.Kind() == record.Integer || v.Kind() == record.Null); ok {
			*d = v.Int()
		}
	case *int:
		if ok = d != nil && (v.Kind() == record.Integer || v.Kind() == record.Null) && int64(int(v.Int())) == v.Int(); ok {
			*d = int(v.Int())
		}
	case *float64:
		if ok = d != nil && (v.Kind() == record.Float || v.Kind() == record.Null); ok {
			*d = v.Float()
		}
	case *string:
		if ok = d != nil && (v.Kind() >= record.Text || v.Kind() == record.Null); ok {
			*d = v.Text()
		}
	case *[]byte:
		if ok = d != nil && (v.Kind() >= record.Text || v.Kind() == record.Null); ok {
			*d = append([]byte(nil), v.Bytes()...)
		}
	case *Value:
		if ok = d != nil; ok {
			*d = Value{*v}
		}
	case *any:
		if ok = d != nil; ok {
			*d = v.Any()
		}
	default:
		return false
	}
	return ok
}

// A scanner is the Scanner of database/sql.
type scanner interface{ Scan(src any) error }

// assignOther stores a value that must be converted, or in a destination of another type.
func assignOther(dest any, v *record.Value) error {
	switch d := dest.(type) {
	case scanner:
		if err := d.Scan(v.Any()); err != nil {
			return fmt.Errorf("%w: %w", ErrType, err)
		}
		return nil
	case *time.Time:
		if d == nil {
			return mismatch(v, "a nil *time.Time")
		}
		t, ok := record.TimeOf(v)
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
	if v.Kind() == record.Null {
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
func convert(d reflect.Value, v *record.Value) error {
	ok := false
	switch d.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(numberText(v), 10, d.Type().Bits())
		if ok = err == nil; ok {
			d.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(numberText(v), 10, d.Type().Bits())
		if ok = err == nil; ok {
			d.SetUint(n)
		}
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(numberText(v), d.Type().Bits())
		if ok = err == nil; ok {
			d.SetFloat(f)
		}
	case reflect.Bool:
		b, err := strconv.ParseBool(truthText(v))
		if ok = err == nil; ok {
			d.SetBool(b)
		}
	case reflect.String:
		d.SetString(textOf(v))
		ok = true
	case reflect.Slice:
		if ok = d.Type().Elem().Kind() == reflect.Uint8; ok {
			d.SetBytes(append([]byte(nil), textOf(v)...))
		}
	}
	if !ok {
		return mismatch(v, "the type "+d.Type().String())
	}
	return nil
}

// textOf returns a value as text; a number as database/sql formats it, NULL as "".
func textOf(v *record.Value) string {
	switch v.Kind() {
	case record.Integer:
		return strconv.FormatInt(v.Int(), 10)
	case record.Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return v.Text()
}

// numberText is text, where NULL is 0 and a REAL that is an integer is written as one.
func numberText(v *record.Value) string {
	if n, ok := wholeOf(v); ok {
		return strconv.FormatInt(n, 10)
	}
	return textOf(v)
}

// wholeOf returns the integer that a number is, if it is one, and 0 for NULL.
func wholeOf(v *record.Value) (n int64, ok bool) {
	if f := v.Float(); v.Kind() == record.Float {
		return int64(f), f >= math.MinInt64 && f < 1<<63 && f == math.Trunc(f)
	}
	return v.Int(), v.Kind() <= record.Integer
}

// truthText is the text of a value that may be a bool.
func truthText(v *record.Value) string {
	switch {
	case v.Kind() == record.Null:
		return "false"
	case v.Kind() == record.Float:
		return ""
	}
	return textOf(v)
}

// mismatch returns the error for a value that is not of the wanted type.
func mismatch(v *record.Value, want string) error {
	return fmt.Errorf("%w: %s into %s", ErrType, briefly(v), want)
}

// briefly returns a value and its kind for an error, cut off if it is long.
func briefly(v *record.Value) string {
	const most = 32
	switch v.Kind() {
	case record.Null:
		return "NULL"
	case record.Text:
		if s := v.Text(); len(s) <= most {
			return fmt.Sprintf("the TEXT %q", s)
		}
		return fmt.Sprintf("a TEXT of %d bytes", len(v.Bytes()))
	case record.Blob:
		return fmt.Sprintf("a BLOB of %d bytes", len(v.Bytes()))
	}
	return fmt.Sprintf("the %v %s", v.Kind(), textOf(v))
}

// columnName returns the name of column i, qualified by its table or index, for errors.
func (r *Row) columnName(i int) string {
	if name := r.shape.fields[i].name; name != "" {
		return r.shape.name + "." + name
	}
	return fmt.Sprintf("%s: column %d", r.shape.name, i)
}

// asInt64 returns a value that is no integer as one: a REAL that is one, and NULL as 0.
func (r *Row) asInt64(i int, v *record.Value) (int64, error) {
	if n, ok := wholeOf(v); ok {
		return n, nil
	}
	return 0, r.mistyped(i, v, "an int64")
}

// asFloat64 returns a value that is no REAL as one.
func (r *Row) asFloat64(i int, v *record.Value) (float64, error) {
	if v.Kind() > record.Float {
		return 0, r.mistyped(i, v, "a float64")
	}
	return float64(v.Int()), nil
}

// mistyped returns the error for a value that an accessor does not return.
func (r *Row) mistyped(i int, v *record.Value, want string) error {
	return fmt.Errorf("%s: %w", r.columnName(i), mismatch(v, want))
}

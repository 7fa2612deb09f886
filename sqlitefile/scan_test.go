package sqlitefile

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// scanned holds one value of each kind, and some that look like another kind.
var scanned = []any{
	nil, int64(0), int64(1), int64(-1), int64(300), int64(math.MaxInt64), 0.0, 2.0, 2.5, 1e6, 1e300, math.Inf(1), "", "12", "-7", "1.5", "abc", "true", "99999999999999999999", []byte{}, []byte("12"), []byte{0xff},
}

// TestScanTypes scans every kind of value into every type, and compares with what database/sql
// makes of it.
func TestScanTypes(t *testing.T) {
	t.Parallel()
	eachScanned(t, func(i int, row *Row) {
		for _, dest := range []any{
			new(int), new(int8), new(int16), new(int32), new(int64), new(uint), new(uint8), new(uint16), new(uint32), new(uint64), new(float32), new(float64),
			new(bool), new(string), new([]byte), new(any), new(*int64), new(*string), new(*bool), new(sql.NullInt64), new(sql.NullString), new(sql.Null[float64]),
		} {
			compareScan(t, row, scanned[i], dest)
		}
	})
}

// eachScanned calls fn with a row for each value of scanned.
func eachScanned(t *testing.T, fn func(i int, row *Row)) {
	t.Helper()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (c)"))
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("t")
		for i := 0; i < len(scanned) && err == nil; i++ {
			_, err = w.Insert(scanned[i])
		}
		return err
	})
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		for i := 0; i < len(scanned) && err == nil; i++ {
			var row Row
			if row, _, err = table.Get(int64(i + 1)); err == nil {
				fn(i, &row)
			}
		}
		return err
	})
}

// compareScan scans a value into dest as sql.Rows does. It differs from that where it is
// documented: NULL is the zero value, and a REAL that is an integer is one however large.
func compareScan(t *testing.T, row *Row, value, dest any) {
	t.Helper()
	want := reflect.New(reflect.TypeOf(dest).Elem())
	wantErr := convertAssign(want.Interface(), value)
	_, scans := dest.(sql.Scanner)
	if f, ok := value.(float64); ok && f == 1e6 && wantErr != nil && !scans {
		wantErr = convertAssign(want.Interface(), int64(f))
	}
	if value == nil && !scans {
		want, wantErr = reflect.New(reflect.TypeOf(dest).Elem()), nil
	}
	err := row.Scan(dest)
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%#v into a %T: %v, database/sql: %v", value, dest, err, wantErr)
		return
	}
	if err != nil && (!errors.Is(err, ErrType) && !scans || !strings.Contains(err.Error(), "t.c")) {
		t.Errorf("%#v into a %T: %v names no column, or does not match ErrType", value, dest, err)
	}
	got := reflect.ValueOf(dest)
	if err == nil && !reflect.DeepEqual(got.Elem().Interface(), want.Elem().Interface()) && fmt.Sprint(got.Elem()) != fmt.Sprint(want.Elem()) {
		t.Errorf("%#v into a %T: %v, database/sql: %v", value, dest, got.Elem(), want.Elem())
	}
}

// convertAssign is what sql.Rows.Scan does with a value.
func convertAssign(dest, value any) error {
	switch dest := dest.(type) {
	case sql.Scanner:
		return dest.Scan(value)
	case *any:
		*dest = value
		return nil
	case **int64:
		return nullable(dest, value)
	case **string:
		return nullable(dest, value)
	case **bool:
		return nullable(dest, value)
	case *[]byte:
		return plain(dest, value)
	case *string:
		return plain(dest, value)
	case *bool:
		return plain(dest, value)
	}
	return convertNumber(dest, value)
}

func convertNumber(dest, value any) error {
	switch dest := dest.(type) {
	case *int:
		return plain(dest, value)
	case *int8:
		return plain(dest, value)
	case *int16:
		return plain(dest, value)
	case *int32:
		return plain(dest, value)
	case *int64:
		return plain(dest, value)
	case *uint:
		return plain(dest, value)
	case *uint8:
		return plain(dest, value)
	case *uint16:
		return plain(dest, value)
	case *uint32:
		return plain(dest, value)
	case *uint64:
		return plain(dest, value)
	case *float32:
		return plain(dest, value)
	case *float64:
		return plain(dest, value)
	}
	return errors.ErrUnsupported
}

// plain scans by way of sql.Null, which calls the conversion of database/sql.
func plain[T any](dest *T, value any) error {
	var n sql.Null[T]
	err := n.Scan(value)
	*dest = n.V
	return err
}

func nullable[T any](dest **T, value any) error {
	var n sql.Null[T]
	err := n.Scan(value)
	if *dest = nil; err == nil && n.Valid {
		*dest = &n.V
	}
	return err
}

// TestScanMisuse scans into what is no destination, and into too many.
func TestScanMisuse(t *testing.T) {
	t.Parallel()
	eachScanned(t, func(i int, row *Row) {
		var n int
		for _, dest := range [][]any{{&n, nil}, {nil, nil}, {nil, &n}, {n}, {new(struct{})}, {new([]int)}, {(*complex128)(nil)}, {new(map[string]int)}} {
			if err := row.Scan(dest...); err == nil {
				t.Errorf("%v into %T: no error", scanned[i], dest)
			}
		}
		if err := row.Scan(); err != nil {
			t.Errorf("no destinations: %v", err)
		}
	})
}

// TestAccessorTypes reads each kind of value by each accessor: what would change the type is an
// error.
func TestAccessorTypes(t *testing.T) {
	t.Parallel()
	eachScanned(t, func(i int, row *Row) {
		want := scanned[i]
		f, isFloat := want.(float64)
		n, isInt := want.(int64)
		_, isText := want.(string)
		_, isBlob := want.([]byte)
		whole := isFloat && f == math.Trunc(f) && math.Abs(f) < 1e18
		for what, r := range map[string]struct {
			err error
			ok  bool
		}{
			"Int64":   {second(row.Int64(0)), isInt || whole || want == nil},
			"Float64": {second(row.Float64(0)), isInt || isFloat || want == nil},
			"Text":    {second(row.Text(0)), isText || isBlob || want == nil},
			"Bytes":   {second(row.Bytes(0)), isText || isBlob || want == nil},
		} {
			if (r.err == nil) != r.ok || r.err != nil && (!errors.Is(r.err, ErrType) || !strings.Contains(r.err.Error(), "t.c")) {
				t.Errorf("%s of %#v: %v", what, want, r.err)
			}
		}
		if got, err := row.Int64(0); err == nil && isInt && got != n || whole && float64(got) != f {
			t.Errorf("Int64 of %#v is %d", want, got)
		}
		if got, err := row.Float64(0); err == nil && isInt && got != float64(n) || isFloat && got != f {
			t.Errorf("Float64 of %#v is %v", want, got)
		}
	})
}

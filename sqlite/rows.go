package sqlite

import (
	"context"
	"database/sql/driver"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/sqlitefile"
)

// rows are the rows of a query for database/sql. Its values are copies.
type rows struct {
	c   *conn
	ctx context.Context
	rx  *sqlitefile.Rx
	own bool // the transaction is the query's
	s   *statement
	end func() // of waiting for ctx; may be nil
}

func (r *rows) Columns() []string { return r.s.columnNames() }

// Close ends the query. It may be called again.
func (r *rows) Close() (err error) {
	if r.end != nil {
		r.end()
		r.end = nil
	}
	if r.s != nil {
		r.c.db.cache.put(r.s)
		r.s = nil
	}
	if r.own && r.rx != nil {
		r.rx.End()
	}
	r.rx = nil
	return nil
}

func isEnd(err error) bool { return err == io.EOF }

// Next copies the next row into dest.
func (r *rows) Next(dest []driver.Value) (err error) {
	if r.s == nil {
		return io.EOF
	}
	ok, err := r.next(dest)
	switch {
	case err != nil:
		return asError(r.s.failed(r.ctx, err))
	case !ok:
		if err := r.rx.Guard(func() error { return nil }); err != nil { // the file was replaced
			return asError(err)
		}
		return io.EOF
	}
	return nil
}

func (r *rows) next(dest []driver.Value) (ok bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if ok, err = r.s.Next(); !ok || err != nil {
		return false, err
	}
	for i, v := range r.s.Values() {
		dest[i] = driverValue(v, r.s.Columns[i].Type)
	}
	return true, nil
}

// driverValue returns a value as go-sqlite3 does: a column that is declared as BOOLEAN, DATE,
// DATETIME or TIMESTAMP has a bool or a time.
func driverValue(v record.Value, declared string) driver.Value {
	switch v.Kind() {
	case record.Integer:
		if declared != "" {
			return convertedInteger(v.Int(), declared)
		}
		return v.Int()
	case record.Float:
		return v.Float()
	case record.Text:
		text := string(v.Bytes())
		if declared != "" && isTime(declared) {
			if t, ok := parseTime(text); ok {
				return t
			}
		}
		return text
	case record.Blob:
		return append([]byte{}, v.Bytes()...)
	}
	return nil
}

func isTime(declared string) bool {
	return strings.EqualFold(declared, "datetime") || strings.EqualFold(declared, "timestamp") || strings.EqualFold(declared, "date")
}

func convertedInteger(i int64, declared string) driver.Value {
	switch {
	case strings.EqualFold(declared, "boolean"):
		return i > 0
	case isTime(declared):
		if i > 1e12 || i < -1e12 { // milliseconds
			return time.Unix(0, i*int64(time.Millisecond)).UTC()
		}
		return time.Unix(i, 0).UTC()
	}
	return i
}

// timeFormats are the formats that go-sqlite3 reads.
var timeFormats = []string{
	"2006-01-02 15:04:05.999999999-07:00",
	"2006-01-02T15:04:05.999999999-07:00",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04",
	"2006-01-02T15:04",
	"2006-01-02",
}

func parseTime(text string) (t time.Time, ok bool) {
	text = strings.TrimSuffix(text, "Z")
	for _, format := range timeFormats {
		if t, err := time.ParseInLocation(format, text, time.UTC); err == nil {
			return t, true
		}
	}
	return t, false
}

// ColumnTypeDatabaseTypeName returns the declared type of a column in capitals.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	return strings.ToUpper(r.s.Columns[i].Type)
}

// ColumnTypeNullable reports that every column may be NULL.
func (r *rows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypeScanType returns the type that values of the declared type usually have.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	declared := strings.ToUpper(r.s.Columns[i].Type)
	switch {
	case isTime(declared):
		return reflect.TypeFor[time.Time]()
	case declared == "BOOLEAN":
		return reflect.TypeFor[bool]()
	case strings.Contains(declared, "INT"):
		return reflect.TypeFor[int64]()
	case strings.Contains(declared, "CHAR"), strings.Contains(declared, "TEXT"), strings.Contains(declared, "CLOB"):
		return reflect.TypeFor[string]()
	case strings.Contains(declared, "REAL"), strings.Contains(declared, "FLOA"), strings.Contains(declared, "DOUB"):
		return reflect.TypeFor[float64]()
	case strings.Contains(declared, "BLOB"):
		return reflect.TypeFor[[]byte]()
	}
	return reflect.TypeFor[any]()
}

package sqlite

import (
	"database/sql/driver"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/record"
)

// rows are the rows of a statement for database/sql. Their values are copies.
type rows struct {
	*cursor
	location *time.Location // of times; nil for UTC
}

func (r *rows) Columns() []string { return names(r.columns) }

// Close ends the statement. It may be called again.
func (r *rows) Close() error {
	r.close()
	return nil
}

// Next copies the next row into dest.
func (r *rows) Next(dest []driver.Value) (err error) {
	ok, err := r.copyTo(dest)
	if err == nil && !ok {
		return io.EOF
	}
	return asError(err)
}

func (r *rows) copyTo(dest []driver.Value) (ok bool, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	values, ok, err := r.step()
	for i, v := range values {
		dest[i] = r.driverValue(v, r.columns[i].Type)
	}
	return ok, err
}

// driverValue returns a value as go-sqlite3 does: a column that is declared as BOOLEAN, DATE,
// DATETIME or TIMESTAMP has a bool or a time.
func (r *rows) driverValue(v record.Value, declared string) driver.Value {
	switch v.Kind() {
	case record.Integer:
		if declared != "" {
			return r.convertedInteger(v.Int(), declared)
		}
		return v.Int()
	case record.Float:
		return v.Float()
	case record.Text:
		text := string(v.Bytes())
		if declared != "" && isTime(declared) {
			if t, ok := parseTime(text); ok {
				return r.in(t)
			}
		}
		return text
	case record.Blob:
		return append([]byte{}, v.Bytes()...)
	}
	return nil
}

// in returns a time in the time zone of the connection.
func (r *rows) in(t time.Time) time.Time {
	if r.location == nil {
		return t
	}
	return t.In(r.location)
}

func isTime(declared string) bool {
	return strings.EqualFold(declared, "datetime") || strings.EqualFold(declared, "timestamp") || strings.EqualFold(declared, "date")
}

func (r *rows) convertedInteger(i int64, declared string) driver.Value {
	switch {
	case strings.EqualFold(declared, "boolean"):
		return i > 0
	case isTime(declared):
		if i > 1e12 || i < -1e12 { // milliseconds
			return r.in(time.UnixMilli(i).UTC())
		}
		return r.in(time.Unix(i, 0).UTC())
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
	return strings.ToUpper(r.columns[i].Type)
}

// ColumnTypeNullable reports that every column may be NULL.
func (r *rows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypeScanType returns the type that values of the declared type usually have.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	declared := strings.ToUpper(r.columns[i].Type)
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

package sqlite

import (
	"fmt"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// A Row is one row of a result. Columns count from 0. It panics if there is no such column.
type Row struct {
	values  []record.Value
	columns []bind.Column
}

// Columns returns the names of the columns.
func (r *Row) Columns() []string { return names(r.columns) }

// names returns the names of columns.
func names(columns []bind.Column) []string {
	list := make([]string, len(columns))
	for i := range columns {
		list[i] = columns[i].Name
	}
	return list
}

// Len returns the number of columns.
func (r *Row) Len() int { return len(r.values) }

// Value returns a column. The bytes of a text or a BLOB are valid until the query ends.
func (r *Row) Value(i int) sqlitefile.Value {
	return sqlitefile.ValueOf(private.Key{}, r.values[i])
}

// Kind returns the storage class of a column.
func (r *Row) Kind(i int) sqlitefile.Kind { return sqlitefile.Kind(r.values[i].Kind()) }

// Int64 returns a column as an integer, converted as CAST does.
func (r *Row) Int64(i int) int64 { return value.Integer(r.values[i]) }

// Float64 returns a column as a float, converted as CAST does.
func (r *Row) Float64(i int) float64 { return value.Float(r.values[i]) }

// Text returns a copy of a column as a text, converted as CAST does, and "" for NULL.
func (r *Row) Text(i int) string { return string(value.Text(r.values[i])) }

// Bytes returns the bytes of a text or a BLOB, which may point into the database: they are valid
// until the query ends, and must not be changed. A number is converted to its text, and NULL is
// nil.
func (r *Row) Bytes(i int) []byte { return value.Text(r.values[i]) }

// Scan copies the first columns into dest, with the destinations and conversions of Scan of
// [sqlitefile.Row].
func (r *Row) Scan(dest ...any) error {
	if len(dest) > len(r.values) {
		return fmt.Errorf("%d destinations for %d columns", len(dest), len(r.values))
	}
	for i, d := range dest {
		if d == nil {
			continue
		}
		if err := sqlitefile.Assign(private.Key{}, d, &r.values[i]); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

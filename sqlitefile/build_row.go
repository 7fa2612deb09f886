package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// maxRow is the largest size of a record in bytes, SQLite's own default limit.
const maxRow = 1_000_000_000

// A rowBuilder turns the values of a row into records: the table's and its indexes'. It never keeps
// a value that it was given, so that the caller's arguments need not be on the heap; the parts that
// it must remember are in slots.
type rowBuilder struct {
	table   string
	columns []ddl.Column
	strict  bool
	alias   int             // see ddl.Table.RowidAlias
	slots   []slot          // by column, then the rowid, then the terms of indexes (see rowRules)
	text    []byte          // texts that were made of values of another type
	head    []byte          // header of the record being written, behind room for its length
	from    int             // where the header starts in head
	enc     format.Encoding // of texts; UTF-8 if it is 0
	only    int             // the only column that changes, counted from 1; or anyColumn, or everyColumn
}

// What rowBuilder.only is for a row that is inserted, and for one in which all columns change, but
// not the rowid.
const (
	anyColumn   = 0
	everyColumn = -1
)

// A slot is one value, its column's affinity applied.
type slot struct {
	typ  format.SerialType
	from slotSource
	num  uint64 // see slotSource
}

// A slotSource tells where the bytes of a value are.
type slotSource uint8

const (
	fromNumber slotSource = iota // in num: an integer, or the bits of a float
	fromValue                    // in the value itself
	fromText                     // in rowBuilder.text from num on
)

func newRowBuilder(t *ddl.Table) rowBuilder {
	return rowBuilder{
		table: t.Name, columns: t.Columns, strict: t.Strict, alias: t.RowidAlias,
		slots: make([]slot, len(t.Columns)+1),
		head:  make([]byte, headerRoom, headerRoom+len(t.Columns)+2),
	}
}

// count checks that there is a value for each column.
func (r *rowBuilder) count(values []any) error {
	if len(values) != len(r.columns) {
		return fmt.Errorf("table %s has %d columns but %d values were given", r.table, len(r.columns), len(values))
	}
	return nil
}

// load takes in the values of a row.
func (r *rowBuilder) load(rowid int64, values []any) error {
	if err := r.count(values); err != nil {
		return err
	}
	r.text = r.text[:0]
	for i, v := range values {
		if err := r.loadColumn(i, v); err != nil {
			return err
		}
		if i == r.alias {
			if err := r.checkAlias(rowid); err != nil {
				return err
			}
		}
	}
	r.slots[len(values)].setInt(rowid)
	return nil
}

// loadColumn takes in the value of one column.
func (r *rowBuilder) loadColumn(i int, v any) error {
	c, s := &r.columns[i], &r.slots[i]
	if !r.set(s, c.Affinity, v) {
		return r.unsupported(i, v)
	}
	switch {
	case i == r.alias:
	case s.typ == format.SerialNull:
		if c.NotNull && c.Generated == nil && (r.only <= 0 || r.only == i+1) {
			return &ConstraintError{Kind: ConstraintNotNull, Table: r.table, Columns: []string{c.Name}}
		}
	case r.strict && !allowed(c.Standard, s.typ):
		return r.mistyped(c, s.typ)
	}
	return nil
}

// checkAlias wants the column that is the rowid to be NULL or the rowid; the record holds NULL.
func (r *rowBuilder) checkAlias(rowid int64) error {
	s := &r.slots[r.alias]
	if s.typ != format.SerialNull && !(s.typ.IsInt() && int64(s.num) == rowid) {
		return fmt.Errorf("%s.%s is the rowid, %d, but was given another value", r.table, r.columns[r.alias].Name, rowid)
	}
	*s = slot{}
	return nil
}

func (r *rowBuilder) unsupported(i int, v any) error {
	kind := "an integer above 9223372036854775807"
	switch v.(type) {
	case uint, uint64:
	default:
		kind = typeName(v)
	}
	return fmt.Errorf("%s.%s: %w: %s as a value", r.table, r.columns[i].Name, ErrUnsupported, kind)
}

// allowed reports whether a STRICT column takes a value.
func allowed(standard ddl.StandardType, typ format.SerialType) bool {
	switch standard {
	case ddl.Int, ddl.Integer:
		return typ.IsInt()
	case ddl.Real:
		return typ < format.SerialBlob
	case ddl.Text:
		return typ.IsText()
	case ddl.Blob:
		return typ.IsBlob()
	}
	return true
}

func (r *rowBuilder) mistyped(c *ddl.Column, typ format.SerialType) error {
	kind := "REAL"
	switch {
	case typ.IsInt():
		kind = "INT"
	case typ.IsText():
		kind = "TEXT"
	case typ.IsBlob():
		kind = "BLOB"
	}
	return &ConstraintError{
		Kind: ConstraintStrict, Table: r.table, Columns: []string{c.Name},
		What: fmt.Sprintf("cannot store %s value in %s column", kind, c.Type),
	}
}

// set puts v into s as a column of affinity a stores it. It reports false for a value of a type
// that has no place in a database.
func (r *rowBuilder) set(s *slot, a value.Affinity, v any) bool {
	switch v := v.(type) {
	case nil:
		*s = slot{}
	case int64:
		r.setInt(s, a, v)
	case *int64:
		if v == nil {
			*s = slot{}
			return true
		}
		r.setInt(s, a, *v)
	case string:
		r.setText(s, a, v)
	case []byte:
		if v == nil {
			*s = slot{}
			return true
		}
		*s = slot{typ: format.SerialBlob + format.SerialType(2*uint64(len(v))), from: fromValue}
	case float64:
		r.setFloat(s, a, v)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		r.setInt(s, a, n)
	default:
		return r.setOther(s, a, v)
	}
	return true
}

func (r *rowBuilder) setOther(s *slot, a value.Affinity, v any) bool {
	switch v := v.(type) {
	case int:
		r.setInt(s, a, int64(v))
	case int32:
		r.setInt(s, a, int64(v))
	case uint32:
		r.setInt(s, a, int64(v))
	case uint64:
		if v > math.MaxInt64 {
			return false
		}
		r.setInt(s, a, int64(v))
	case uint:
		return r.setOther(s, a, uint64(v))
	case int16:
		r.setInt(s, a, int64(v))
	case uint16:
		r.setInt(s, a, int64(v))
	case int8:
		r.setInt(s, a, int64(v))
	case uint8:
		r.setInt(s, a, int64(v))
	case float32:
		r.setFloat(s, a, float64(v))
	case Value:
		return r.setValue(s, a, v.v)
	case record.Value:
		return r.setValue(s, a, v)
	case time.Time:
		text, ok := record.AppendTime(r.text, v)
		r.made(s, text)
		return ok
	default:
		return false
	}
	return true
}

// setValue puts in a value that was read from a row. Its text may be in another encoding than the
// database's.
func (r *rowBuilder) setValue(s *slot, a value.Affinity, v record.Value) bool {
	switch {
	case v.Kind() == record.Blob:
		*s = slot{typ: format.SerialBlob + format.SerialType(2*uint64(len(v.Bytes()))), from: fromValue}
	case v.Kind() == record.Text && a < value.AffinityNumeric && v.Enc() <= format.UTF8 && r.enc <= format.UTF8:
		*s = slot{typ: format.SerialText + format.SerialType(2*uint64(len(v.Bytes()))), from: fromValue}
	case v.Kind() == record.Text:
		if r.setText(s, a, v.Text()); s.from == fromValue { // its bytes are not v's
			r.made(s, append(r.text, v.Text()...))
		}
	default:
		return r.set(s, a, v.Any())
	}
	return true
}

// setInt applies the affinity to an integer. A REAL column keeps one as an integer if that is
// shorter.
func (r *rowBuilder) setInt(s *slot, a value.Affinity, v int64) {
	switch {
	case a == value.AffinityText:
		r.made(s, strconv.AppendInt(r.text, v, 10))
	case a == value.AffinityReal && format.IntType(v) == format.SerialInt64:
		s.setFloat(float64(v))
	default:
		s.setInt(v)
	}
}

func (r *rowBuilder) setFloat(s *slot, a value.Affinity, v float64) {
	switch a {
	case value.AffinityText:
		if v == v {
			r.made(s, record.AppendFloat(r.text, v))
			return
		}
	case value.AffinityBlob:
	default:
		if i, ok := record.WholeNumber(v); ok {
			r.setInt(s, a, i)
			return
		}
	}
	s.setFloat(v)
}

func (r *rowBuilder) setText(s *slot, a value.Affinity, v string) {
	if a >= value.AffinityNumeric {
		switch n := record.ParseNumber(v); n.Kind {
		case record.Integer:
			r.setInt(s, a, n.Int)
			return
		case record.Float:
			r.setFloat(s, a, n.Float)
			return
		}
	}
	if r.enc > format.UTF8 {
		r.made(s, append(r.text, v...))
		return
	}
	*s = slot{typ: format.SerialText + format.SerialType(2*uint64(len(v))), from: fromValue}
}

// made takes in a text that was appended to r.text.
func (r *rowBuilder) made(s *slot, text []byte) {
	if r.enc > format.UTF8 {
		text = append(r.text, record.UTF16Of(text[len(r.text):], r.enc)...)
	}
	n := len(text) - len(r.text)
	*s = slot{typ: format.SerialText + format.SerialType(2*n), from: fromText, num: uint64(len(r.text))}
	r.text = text
}

func (s *slot) setInt(v int64) { *s = slot{typ: format.IntType(v), num: uint64(v)} }

// setFloat makes NULL of a NaN, as SQLite does.
func (s *slot) setFloat(v float64) {
	*s = slot{typ: format.SerialFloat, num: math.Float64bits(v)}
	if v != v {
		*s = slot{}
	}
}

// headerRoom is enough for the length of a header.
const headerRoom = 3

// header makes the header of the record that holds the given slots, and returns the size of the
// record.
func (r *rowBuilder) header(fields []int) (size int, err error) {
	h := r.head[:headerRoom]
	body := uint64(0)
	for _, i := range fields {
		typ := r.slots[i].typ
		if typ < 0x80 {
			h = append(h, byte(typ))
		} else {
			h = format.AppendVarint(h, uint64(typ))
		}
		body += typ.Size()
	}
	r.head = h
	n := uint64(len(h) - headerRoom)
	n += uint64(format.VarintLen(n + 1)) // the length counts itself; a second byte starts at 128, a third at 16384
	r.from = len(h) - int(n)
	format.PutVarint(h[r.from:], n)
	if n+body > maxRow {
		return 0, fmt.Errorf("table %s: row of %d bytes: more than %d", r.table, n+body, maxRow)
	}
	return int(n + body), nil
}

// write writes the record whose header was made last.
func (r *rowBuilder) write(w *bulk.Payload, fields []int, values []any) error {
	if err := w.Write(r.head[r.from:]); err != nil {
		return err
	}
	for _, i := range fields {
		if err := r.writeSlot(w, &r.slots[i], i, values); err != nil {
			return err
		}
	}
	w.Done()
	return nil
}

func (r *rowBuilder) writeSlot(w *bulk.Payload, s *slot, i int, values []any) error {
	switch s.from {
	case fromValue:
		return w.Write(valueBytes(values[i]))
	case fromText:
		return w.Write(r.text[s.num : s.num+s.typ.Size()])
	}
	n := s.typ.Size()
	if n == 0 {
		return nil
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], s.num<<(64-8*n))
	return w.Write(b[:n])
}

func valueBytes(v any) []byte {
	if s, ok := v.(string); ok {
		return record.TextBytes(s)
	}
	switch v := v.(type) {
	case Value:
		return v.v.Bytes()
	case record.Value:
		return v.Bytes()
	case []byte:
		return v
	}
	return nil
}

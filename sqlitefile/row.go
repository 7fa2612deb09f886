package sqlitefile

import (
	"fmt"
	"io"

	"github.com/foliofs/folio/internal/format"
)

// A Row is one row of a table or one entry of an index. It points into the database: it and the bytes that come
// out of it are valid until the transaction ends. Columns count from 0, in the order of the CREATE statement.
type Row struct {
	rx    *Rx
	shape *shape
	rec   record
	rowid int64
}

// A shape tells how the columns of a table, or of an index, lie in its records.
type shape struct {
	name   string   // of the table or the index, for errors
	fields []column // by column
	plain  int      // how many columns, from the first on, are the fields of the record as they are
	alias  int      // the column that is the rowid and is stored as NULL; -1 without

	rowidField int // place of the rowid in the records of an index; -1 without

	computed []*computed // by column: how a virtual one is computed; nil for the others, and where there is none
	refused  error       // why the virtual ones cannot be computed
}

// A column is one column of a shape.
type column struct {
	name  string
	field int   // place in the record; -1 in a virtual column, which is computed and not stored
	real  bool  // integers in it are meant as floats, and are stored short
	dflt  Value // where the record is too short to hold it
	expr  bool  // that value is the result of an expression, which is for SQLite to evaluate
}

// none stands in a shape where there is no such column or field.
const none = -1

// Rowid returns the rowid of a row, or the rowid that an index entry leads to; 0 in tables WITHOUT ROWID.
func (r *Row) Rowid() int64 { return r.rowid }

// Len returns the number of columns.
func (r *Row) Len() int { return len(r.shape.fields) }

// Value returns the value of column i, with the defaults of columns that were added after the row was written.
func (r *Row) Value(i int) (Value, error) {
	c, err := r.column(i)
	if err != nil {
		return Value{}, err
	}
	if i == r.shape.alias {
		return Value{kind: Integer, num: r.rowid}, nil
	}
	if c.field < 0 {
		return r.compute(i)
	}
	f, there, err := r.rx.field(&r.rec, c.field)
	if err != nil {
		return Value{}, err
	}
	if !there {
		return c.dflt, r.known(c)
	}
	b, err := r.rx.fieldBytes(&r.rec, f)
	if err != nil {
		return Value{}, err
	}
	if c.real && f.typ.IsInt() {
		return Value{kind: Float, real: float64(f.typ.Int(b))}, nil
	}
	return decode(f.typ, b, r.rx.header.Encoding), nil
}

func (r *Row) column(i int) (*column, error) {
	if uint(i) >= uint(len(r.shape.fields)) {
		return nil, fmt.Errorf("%s: no column %d: it has %d", r.shape.name, i, len(r.shape.fields))
	}
	return &r.shape.fields[i], nil
}

// known refuses a default that only SQLite can tell.
func (r *Row) known(c *column) error {
	if c.expr {
		return fmt.Errorf("%s.%s: %w: a row without it, and an expression as its default", r.shape.name, c.name, ErrUnsupported)
	}
	return nil
}

// Int64 returns column i as an integer. A REAL that is one is converted, and a NULL is 0. It
// returns an error that matches [ErrType] for everything else; [Row.Scan] converts texts, too.
func (r *Row) Int64(i int) (int64, error) {
	if i == r.shape.alias {
		return r.rowid, nil
	}
	v, err := r.Value(i)
	if err != nil || v.kind == Integer {
		return v.num, err
	}
	return r.asInt64(i, &v)
}

// Float64 returns column i, a REAL or an INTEGER, as a float, and a NULL as 0. It returns an error
// that matches [ErrType] for everything else.
func (r *Row) Float64(i int) (float64, error) {
	v, err := r.Value(i)
	if err != nil || v.kind == Float {
		return v.real, err
	}
	return r.asFloat64(i, &v)
}

// Bytes returns the bytes of a text, in the database's encoding, or of a BLOB, and nil for a NULL.
// They must not be changed, and are valid until the transaction ends. It returns an error that
// matches [ErrType] for a number.
func (r *Row) Bytes(i int) ([]byte, error) {
	if c, err := r.column(i); err == nil && i != r.shape.alias && c.field >= 0 {
		if f, there, err := r.rx.field(&r.rec, c.field); err == nil && there && f.typ >= format.SerialBlob {
			return r.rx.fieldBytes(&r.rec, f)
		}
	}
	v, err := r.Value(i)
	if err == nil && (v.kind == Integer || v.kind == Float) {
		err = r.mistyped(i, &v, "a []byte")
	}
	return v.data, err
}

// Text returns a copy of a text as UTF-8, or of a BLOB's bytes as they are, and "" for a NULL. It
// returns an error that matches [ErrType] for a number.
func (r *Row) Text(i int) (string, error) {
	v, err := r.Value(i)
	if err == nil && (v.kind == Integer || v.kind == Float) {
		return "", r.mistyped(i, &v, "a string")
	}
	return v.Text(), err
}

// Size returns the number of bytes of a text or BLOB column without reading it; 0 for everything else.
func (r *Row) Size(i int) (int64, error) {
	size, _, _, err := r.blob(i)
	return size, err
}

// Kind returns the storage class of column i without reading it.
func (r *Row) Kind(i int) (Kind, error) {
	c, err := r.column(i)
	if err != nil || i == r.shape.alias {
		return Integer, err
	}
	if c.field < 0 {
		v, err := r.compute(i)
		return v.kind, err
	}
	f, there, err := r.rx.field(&r.rec, c.field)
	switch {
	case err != nil:
		return Null, err
	case !there:
		return c.dflt.kind, r.known(c)
	case f.typ >= format.SerialBlob:
		return kindOf(f.typ), nil
	}
	v, err := r.Value(i)
	return v.kind, err
}

// ReadAt reads len(p) bytes of a text or BLOB column from offset off on, without assembling what comes before and after. Like
// an io.ReaderAt it returns io.EOF with fewer bytes at the end.
func (r *Row) ReadAt(i int, p []byte, off int64) (int, error) {
	size, at, dflt, err := r.blob(i)
	if err != nil {
		return 0, err
	}
	if off < 0 || off >= size {
		return 0, io.EOF
	}
	if n := size - off; int64(len(p)) > n {
		n, err := r.ReadAt(i, p[:n], off)
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	if dflt != nil {
		return copy(p, dflt[off:]), nil
	}
	return len(p), r.rx.payloadAt(&r.rec, p, at+uint64(off))
}

// blob finds a text or BLOB column: at some offset of the record, or as the default of a column that was added later. Everything
// else has the size 0.
func (r *Row) blob(i int) (size int64, at uint64, dflt []byte, err error) {
	c, err := r.column(i)
	if err != nil || i == r.shape.alias {
		return 0, 0, nil, err
	}
	if c.field < 0 {
		v, err := r.compute(i)
		return int64(len(v.data)), 0, v.data, err
	}
	f, there, err := r.rx.field(&r.rec, c.field)
	switch {
	case err != nil:
		return 0, 0, nil, err
	case !there:
		return int64(len(c.dflt.data)), 0, c.dflt.data, r.known(c)
	case f.typ < format.SerialBlob:
		return 0, 0, nil, nil
	}
	return int64(f.typ.Size()), f.off, nil, nil
}

// tableRow lets row be the one in cell i of a table leaf. A scan spends its time here: hence no calls where there is nothing out
// of the ordinary.
func (rx *Rx) tableRow(row *Row, n *node, i int, s *shape) error {
	off := n.offset(i)
	if off+2 > len(n.data) {
		return rx.corrupt(n.pgno, "a cell lies outside the page")
	}
	b := n.data[off:]
	size, m := uint64(b[0]), 1
	if size >= 0x80 {
		size, m = format.Varint(b)
	}
	rowid, l := shortVarint(b[m:])
	if l == 0 {
		rowid, l = format.Varint(b[m:])
	}
	if m == 0 || l == 0 {
		return rx.corrupt(n.pgno, "a cell runs past the end of the page")
	}
	row.rx, row.shape, row.rowid = rx, s, int64(rowid)
	b = b[m+l:]
	if size > uint64(rx.spill[1].Max()) || size > uint64(len(b)) {
		return rx.record(&row.rec, n.pgno, b, size, &rx.spill[1])
	}
	// Field by field: a copy of the whole would wait for its parts to be stored.
	row.rec.local, row.rec.size, row.rec.overflow, row.rec.pgno = b[:size:size], size, 0, n.pgno
	return nil
}

// shortVarint decodes a varint of up to three bytes; the length is 0 if it is longer, or b too short to tell.
func shortVarint(b []byte) (v uint64, n int) {
	if len(b) < 3 {
		return 0, 0
	}
	switch {
	case b[0] < 0x80:
		return uint64(b[0]), 1
	case b[1] < 0x80:
		return uint64(b[0]&0x7f)<<7 | uint64(b[1]), 2
	case b[2] < 0x80:
		return uint64(b[0]&0x7f)<<14 | uint64(b[1]&0x7f)<<7 | uint64(b[2]), 3
	}
	return 0, 0
}

// indexRow lets row be the entry in cell i of an index page.
func (rx *Rx) indexRow(row *Row, n *node, i int, s *shape) error {
	row.rx, row.shape = rx, s
	if err := rx.indexRecord(&row.rec, n, i); err != nil || s.rowidField < 0 {
		return err
	}
	f, there, err := rx.field(&row.rec, s.rowidField)
	if err == nil && (!there || !f.typ.IsInt()) {
		err = rx.corrupt(n.pgno, "an index entry has no rowid")
	}
	if err != nil {
		return err
	}
	b, err := rx.fieldBytes(&row.rec, f)
	if err == nil {
		row.rowid = f.typ.Int(b)
	}
	return err
}

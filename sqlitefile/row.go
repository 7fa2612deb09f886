package sqlitefile

import (
	"fmt"
	"io"
	"time"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
)

// A Row is one row of a table or one entry of an index. It points into the database: it and the
// bytes that come out of it are valid until the transaction ends. Columns count from 0, in the
// order of the CREATE statement.
//
// In a write transaction a row is valid until its table, or index, changes. Its methods return an
// error that matches [ErrStale] afterwards, whether this row was changed or another one. Changes to
// other tables do no harm. Bytes of a row, and a [Value] with a text or a BLOB, must not be used
// after any change: use [Row.Text], or copy them.
type Row struct {
	rx    *Rx
	shape *shape
	rec   search.Payload
	rowid int64
	mark  mark // 0 in a read transaction, where nothing changes
}

// A shape says where the columns of a table, or of an index, are in its records.
type shape struct {
	name   string        // of the table or the index, for errors
	fields []column      // by column
	plain  int           // how many columns, from the first on, are the fields of the record as they are
	alias  int           // the column that is the rowid and is stored as NULL; -1 without
	object Object        // the row of sqlite_schema
	schema *pager.Schema // that the object is of; nil for sqlite_schema itself

	rowidField int // place of the rowid in the records of an index; -1 without

	computed []*computed // by column: how a virtual one is computed; nil for other columns, and if there is none
	refused  error       // why the virtual ones cannot be computed
}

// A column is one column of a shape.
type column struct {
	name  string
	field int          // place in the record; -1 in a virtual column, which is computed and not stored
	real  bool         // integers in it are meant as floats, and are stored short
	dflt  record.Value // if the record is too short to hold it
	expr  bool         // that value is the result of an expression, which is for SQLite to evaluate
}

// none stands in a shape where there is no such column or field.
const none = -1

// Rowid returns the rowid of a row, or the rowid that an index entry leads to; 0 in tables WITHOUT
// ROWID.
func (r *Row) Rowid() int64 { return r.rowid }

// Len returns the number of columns.
func (r *Row) Len() int { return len(r.shape.fields) }

// Value returns the value of column i, with the defaults of columns that were added after the row
// was written.
func (r *Row) Value(i int) (Value, error) {
	v, err := r.value(i)
	return Value{v}, err
}

// value is Value for the code of this package.
func (r *Row) value(i int) (record.Value, error) {
	c, err := r.column(i)
	if err != nil {
		return record.Value{}, err
	}
	if i == r.shape.alias {
		return record.OfInt(r.rowid), nil
	}
	if c.field < 0 {
		return r.compute(i)
	}
	f, there, err := r.rx.pager.Field(&r.rec, c.field)
	if err != nil {
		return record.Value{}, err
	}
	if !there {
		return c.dflt, r.known(c)
	}
	b, err := r.rx.pager.FieldBytes(&r.rec, f)
	if err != nil {
		return record.Value{}, err
	}
	if c.real && f.Typ.IsInt() {
		return record.OfFloat(float64(f.Typ.Int(b))), nil
	}
	return record.Decode(f.Typ, b, r.rx.pager.Header.Encoding), nil
}

// column returns column i of a row that can still be read.
func (r *Row) column(i int) (*column, error) {
	if uint(i) < uint(len(r.shape.fields)) && r.mark == 0 {
		return &r.shape.fields[i], nil
	}
	return r.markedColumn(i)
}

// markedColumn does the work of column in a write transaction.
func (r *Row) markedColumn(i int) (*column, error) {
	if uint(i) >= uint(len(r.shape.fields)) {
		return nil, fmt.Errorf("%s: no column %d: it has %d", r.shape.name, i, len(r.shape.fields))
	}
	return &r.shape.fields[i], r.refresh()
}

// known refuses a default that only SQLite can tell.
func (r *Row) known(c *column) error {
	if c.expr {
		return fmt.Errorf("%s.%s: %w: the row has no value there, and the default is an expression that the engine does not know", r.shape.name, c.name, ErrUnsupported)
	}
	return nil
}

// Int64 returns column i as an integer. A REAL that is one is converted, and a NULL is 0. It
// returns an error that matches [ErrType] for everything else; [Row.Scan] converts texts, too.
func (r *Row) Int64(i int) (int64, error) {
	if i == r.shape.alias {
		return r.rowid, nil
	}
	v, err := r.value(i)
	if err != nil || v.Kind() == record.Integer {
		return v.Int(), err
	}
	return r.asInt64(i, &v)
}

// Float64 returns column i, a REAL or an INTEGER, as a float, and a NULL as 0. It returns an error
// that matches [ErrType] for everything else.
func (r *Row) Float64(i int) (float64, error) {
	v, err := r.value(i)
	if err != nil || v.Kind() == record.Float {
		return v.Float(), err
	}
	return r.asFloat64(i, &v)
}

// Bytes returns the bytes of a text, in the database's encoding, or of a BLOB, and nil for a NULL.
// They must not be changed, and are valid until the transaction ends. It returns an error that
// matches [ErrType] for a number.
func (r *Row) Bytes(i int) ([]byte, error) {
	if s := r.shape; uint(i) < uint(len(s.fields)) && r.mark == 0 && i != s.alias && s.fields[i].field >= 0 {
		if f, there, err := r.rx.pager.Field(&r.rec, s.fields[i].field); err == nil && there && f.Typ >= format.SerialBlob {
			return r.rx.pager.FieldBytes(&r.rec, f)
		}
	}
	v, err := r.value(i)
	if err == nil && (v.Kind() == record.Integer || v.Kind() == record.Float) {
		err = r.mistyped(i, &v, "a []byte")
	}
	return v.Bytes(), err
}

// Text returns a copy of a text as UTF-8, or of a BLOB's bytes as they are, and "" for a NULL. It
// returns an error that matches [ErrType] for a number.
func (r *Row) Text(i int) (string, error) {
	v, err := r.value(i)
	if err == nil && (v.Kind() == record.Integer || v.Kind() == record.Float) {
		return "", r.mistyped(i, &v, "a string")
	}
	return v.Text(), err
}

// Time returns column i as a time in UTC, and a NULL as the zero time. It reads every form that
// SQLite's date and time functions take for a time: a TEXT as '2026-11-22 15:04:05.123', and a TEXT
// or a REAL that is a Julian day; an INTEGER is taken for seconds since 1970, as by the modifier
// 'unixepoch'. It returns an error that matches [ErrType] for everything else, 'now' included.
func (r *Row) Time(i int) (time.Time, error) {
	v, err := r.value(i)
	if err != nil {
		return time.Time{}, err
	}
	t, ok := record.TimeOf(&v)
	if !ok {
		return t, r.mistyped(i, &v, "a time.Time")
	}
	return t, nil
}

// Size returns the number of bytes of a text or BLOB column without reading it; 0 for everything
// else.
func (r *Row) Size(i int) (int64, error) {
	size, _, _, err := r.blob(i)
	return size, err
}

// Kind returns the storage class of column i without reading it.
func (r *Row) Kind(i int) (Kind, error) {
	kind, err := r.kind(i)
	return Kind(kind), err
}

func (r *Row) kind(i int) (record.Kind, error) {
	c, err := r.column(i)
	if err != nil || i == r.shape.alias {
		return record.Integer, err
	}
	if c.field < 0 {
		v, err := r.compute(i)
		return v.Kind(), err
	}
	f, there, err := r.rx.pager.Field(&r.rec, c.field)
	switch {
	case err != nil:
		return record.Null, err
	case !there:
		return c.dflt.Kind(), r.known(c)
	case f.Typ >= format.SerialBlob:
		return kindOf(f.Typ), nil
	}
	v, err := r.value(i)
	return v.Kind(), err
}

// ReadAt reads len(p) bytes of a text or BLOB column from offset off on, without assembling the
// bytes that comes before and after. Like an io.ReaderAt it returns io.EOF with fewer bytes at the
// end.
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
	return len(p), r.rx.pager.PayloadAt(&r.rec, p, at+uint64(off))
}

// blob finds a text or BLOB column: at some offset of the record, or as the default of a column
// that was added later. The size of everything else is 0.
func (r *Row) blob(i int) (size int64, at uint64, dflt []byte, err error) {
	c, err := r.column(i)
	if err != nil || i == r.shape.alias {
		return 0, 0, nil, err
	}
	if c.field < 0 {
		v, err := r.compute(i)
		return int64(len(v.Bytes())), 0, v.Bytes(), err
	}
	f, there, err := r.rx.pager.Field(&r.rec, c.field)
	switch {
	case err != nil:
		return 0, 0, nil, err
	case !there:
		return int64(len(c.dflt.Bytes())), 0, c.dflt.Bytes(), r.known(c)
	case f.Typ < format.SerialBlob:
		return 0, 0, nil, nil
	}
	return int64(f.Typ.Size()), f.Off, nil, nil
}

// tableRow lets row be the one in cell i of a table leaf. A scan spends its time here: hence no
// calls if there is nothing out of the ordinary.
func (rx *Rx) tableRow(row *Row, n *btree.Node, i int, s *shape) error {
	off := n.Offset(i)
	if off+2 > len(n.Data) {
		return rx.pager.Corrupt(n.Pgno, "a cell lies outside the page")
	}
	b := n.Data[off:]
	size, m := uint64(b[0]), 1
	if size >= 0x80 {
		size, m = format.Varint(b)
	}
	rowid, l := btree.ShortVarint(b[m:])
	if l == 0 {
		rowid, l = format.Varint(b[m:])
	}
	if m == 0 || l == 0 {
		return rx.pager.Corrupt(n.Pgno, "a cell runs past the end of the page")
	}
	row.rx, row.shape, row.rowid = rx, s, int64(rowid)
	b = b[m+l:]
	if size > uint64(rx.pager.Spill[1].Max()) || size > uint64(len(b)) {
		return rx.pager.Payload(&row.rec, n.Pgno, b, size, &rx.pager.Spill[1])
	}
	// Field by field: a copy of the whole would wait for its parts to be stored.
	row.rec.Local, row.rec.Size, row.rec.Pgno = b[:size:size], uint32(size), n.Pgno
	return nil
}

// indexRow lets row be the entry in cell i of an index page.
func (rx *Rx) indexRow(row *Row, n *btree.Node, i int, s *shape) error {
	row.rx, row.shape = rx, s
	if err := rx.pager.IndexRecord(&row.rec, n, i); err != nil || s.rowidField < 0 {
		return err
	}
	f, there, err := rx.pager.Field(&row.rec, s.rowidField)
	if err == nil && (!there || !f.Typ.IsInt()) {
		err = rx.pager.Corrupt(n.Pgno, "an index entry has no rowid")
	}
	if err != nil {
		return err
	}
	b, err := rx.pager.FieldBytes(&row.rec, f)
	if err == nil {
		row.rowid = f.Typ.Int(b)
	}
	return err
}

// kindOf returns the storage class of a value whose bytes are in the record.
func kindOf(t format.SerialType) record.Kind {
	if t.IsText() {
		return record.Text
	}
	return record.Blob
}

// A mark is when and where a row was read in a write transaction: the clock of the transaction,
// which is never 0, and in the lowest 16 bits the number of the cell. It is 0 in a read
// transaction.
type mark uint64

const markCell = 16 // bits

// setMark notes that the row was just read from cell i of page rec.Pgno.
func (r *Row) setMark(i int) {
	if r.rx.pager.Writing() {
		r.mark = mark(r.rx.pager.Clock()<<markCell | uint64(i))
	}
}

// valid returns an error if the row cannot be read any more.
func (r *Row) valid() error {
	if r.mark == 0 {
		return nil
	}
	return r.refresh()
}

// refresh does the work of valid in a write transaction. A row whose table has not changed, but
// whose page is elsewhere in memory after a spill, is read again.
func (r *Row) refresh() error {
	rx, s, since := r.rx, r.shape, uint64(r.mark>>markCell)
	if rx.pager.Over {
		return rx.db.pager.PathError("read", ErrClosed)
	}
	root, err := rx.rootOf(s, s.object.Root)
	switch {
	case err != nil:
		return err
	case rx.pager.Changed(root, since):
		return fmt.Errorf("%s: the row was %w", s.name, ErrStale)
	case !rx.pager.Moved(since):
		return nil
	}
	n, err := rx.pager.Node(r.rec.Pgno)
	if err != nil {
		return err
	}
	return rx.load(r, &n, int(r.mark&(1<<markCell-1)), s)
}

package sqlitefile

import (
	"github.com/foliofs/folio/internal/format"

	"github.com/foliofs/folio/internal/record"
)

// Values decodes the first len(dst) columns into dst, in one pass over the record: several times
// faster than Value for each of them.
func (r *Row) Values(dst []Value) error {
	if err := r.valid(); err != nil {
		return err
	}
	if r.shape.decode(dst, r.rec.Local, r.rowid, r.rx.pager.Header.Encoding) {
		return nil
	}
	for i := range dst {
		v, err := r.value(i)
		if err != nil {
			return err
		}
		dst[i].v = v
	}
	return nil
}

// ValuesUpTo is like Values, but reads at most limit bytes of a text or a BLOB that continues in
// other pages. It cuts off such a value: one of limit bytes may be longer. A value that is in one
// page is never cut off.
func (r *Row) ValuesUpTo(limit int, dst []Value) error {
	if err := r.valid(); err != nil {
		return err
	}
	if r.shape.decode(dst, r.rec.Local, r.rowid, r.rx.pager.Header.Encoding) {
		return nil
	}
	for i := range dst {
		v, err := r.valueUpTo(limit, i)
		if err != nil {
			return err
		}
		dst[i] = v
	}
	return nil
}

// valueUpTo returns column i, cut off after limit bytes.
func (r *Row) valueUpTo(limit, i int) (Value, error) {
	size, err := r.Size(i)
	if err != nil || size <= int64(limit) {
		return r.Value(i)
	}
	kind, err := r.kind(i)
	if err != nil {
		return Value{}, err
	}
	v := record.OfTextIn(make([]byte, limit), r.rx.pager.Header.Encoding)
	if kind == record.Blob {
		v = record.OfBlob(v.Bytes())
	}
	_, err = r.ReadAt(i, v.Bytes(), 0)
	return Value{v}, err
}

// Values decodes the current entry into dst, as [Row.Values] does, without making a Row.
func (c *Cursor) Values(dst []Value) error {
	if c.state == reading && c.values(dst) {
		return nil
	}
	row, err := c.Row()
	if err != nil {
		return err
	}
	return row.Values(dst)
}

// ValuesUpTo decodes the current entry into dst, as [Row.ValuesUpTo] does, without making a Row.
func (c *Cursor) ValuesUpTo(limit int, dst []Value) error {
	if c.state == reading && c.values(dst) {
		return nil
	}
	row, err := c.Row()
	if err != nil {
		return err
	}
	return row.ValuesUpTo(limit, dst)
}

// values decodes the first columns of the current row if that is easy, and otherwise reports that
// it is not.
func (c *Cursor) values(dst []Value) bool {
	if !c.table && c.shape.rowidField < 0 {
		top := &c.path[c.depth]
		size, off, ok := top.Payload(top.i)
		if ok && size <= uint64(c.rx.pager.Spill[0].Local(size)) && size <= uint64(len(top.Data)-off) &&
			c.shape.decode(dst, top.Data[off:off+int(size)], 0, c.rx.pager.Header.Encoding) {
			return true
		}
	}
	return false
}

// decode decodes the first columns of the record in local if that is easy: they are all there, of
// serial types of one byte, and are where their place says. If it is not, dst holds nothing of use.
func (s *shape) decode(dst []Value, local []byte, rowid int64, enc format.Encoding) bool {
	types, body, ok := format.RecordHeader(local)
	if !ok || len(dst) > len(types) || len(dst) > s.plain {
		return false
	}
	for i := range dst {
		t := format.SerialType(types[i])
		if t == format.SerialFloat || t >= 0x80 {
			return false
		}
		end := body + int(t.Size())
		if end > len(local) {
			return false
		}
		v, b := &dst[i].v, local[body:end:end]
		body = end
		switch {
		case t.IsInt():
			*v = record.OfInt(t.Int(b))
		case t.IsText():
			*v = record.OfTextIn(b, enc)
		case t.IsBlob():
			*v = record.OfBlob(b)
		case i == s.alias:
			*v = record.OfInt(rowid)
		default:
			*v = record.Value{}
		}
	}
	return len(dst) < len(types) || body == len(local) // else Value returns the error
}

package sqlitefile

import "github.com/foliofs/folio/internal/format"

// Values decodes the first len(dst) columns into dst, in one pass over the record: several times faster than Value for
// each of them.
func (r *Row) Values(dst []Value) error {
	if r.shape.decode(dst, r.rec.local, r.rowid, r.rx.header.Encoding) {
		return nil
	}
	for i := range dst {
		v, err := r.Value(i)
		if err != nil {
			return err
		}
		dst[i] = v
	}
	return nil
}

// ValuesUpTo is Values that reads no more than limit bytes of a text or a BLOB that goes on in
// other pages: such a value is cut off, so that one longer than limit-1 bytes can be told. A value
// that lies in one page comes whole.
func (r *Row) ValuesUpTo(limit int, dst []Value) error {
	if r.shape.decode(dst, r.rec.local, r.rowid, r.rx.header.Encoding) {
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
	kind, err := r.Kind(i)
	if err != nil {
		return Value{}, err
	}
	v := Value{kind: kind, data: make([]byte, limit), enc: r.rx.header.Encoding}
	_, err = r.ReadAt(i, v.data, 0)
	return v, err
}

// Values is that of the current row, which is not made.
func (c *Cursor) Values(dst []Value) error {
	if c.values(dst) {
		return nil
	}
	row, err := c.Row()
	if err != nil {
		return err
	}
	return row.Values(dst)
}

// ValuesUpTo is that of the current row, which is not made.
func (c *Cursor) ValuesUpTo(limit int, dst []Value) error {
	if c.values(dst) {
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
	if c.valid && !c.table && c.shape.rowidField < 0 {
		top := &c.path[c.depth]
		size, off, ok := top.payload(top.i)
		if ok && size <= uint64(c.rx.spill[0].Local(size)) && size <= uint64(len(top.data)-off) &&
			c.shape.decode(dst, top.data[off:off+int(size)], 0, c.rx.header.Encoding) {
			return true
		}
	}
	return false
}

// decode decodes the first columns of the record in local if that is easy: they are all there, of serial types
// of one byte, and lie where their place says. If it is not, dst holds nothing of use.
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
		v, b := &dst[i], local[body:end:end]
		body = end
		switch {
		case t.IsInt():
			*v = Value{kind: Integer, num: t.Int(b)}
		case t.IsText():
			*v = Value{kind: Text, data: b, enc: enc}
		case t.IsBlob():
			*v = Value{kind: Blob, data: b}
		case i == s.alias:
			*v = Value{kind: Integer, num: rowid}
		default:
			*v = Value{}
		}
	}
	return len(dst) < len(types) || body == len(local) // else Value says what is wrong
}

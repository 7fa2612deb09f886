package sqlitefile

import (
	"math"

	"github.com/foliofs/folio/internal/format"
)

// A record is the payload of a cell, as far as it lies in the page; what does not is read when it is asked for.
//
// Invariants, established by Rx.record:
//
//	R1  local is the start of the payload, which has size bytes: all of it, or what the page keeps of it.
//	R2  overflow is the first page of the rest where len(local) < size, and otherwise 0.
type record struct {
	local    []byte
	size     uint64
	overflow uint32
	pgno     uint32 // of the cell, to name in errors
}

// record lets r be the record whose payload, of the given size, starts at b in page pgno.
func (rx *Rx) record(r *record, pgno uint32, b []byte, size uint64, spill *format.Spill) error {
	local := spill.Local(size)
	if local > len(b) {
		return rx.corrupt(pgno, "a cell runs past the end of the page")
	}
	r.local, r.size, r.overflow, r.pgno = b[:local:local], size, 0, pgno
	if uint64(local) < size {
		return rx.overflowing(r, b[local:])
	}
	return nil
}

func (rx *Rx) overflowing(r *record, rest []byte) error {
	if len(rest) < 4 {
		return rx.corrupt(r.pgno, "a cell runs past the end of the page")
	}
	if r.size > rx.maxPayload() {
		return rx.corrupt(r.pgno, "a payload larger than the database")
	}
	r.overflow = be32(rest)
	return nil
}

// maxPayload bounds what is worth allocating for: no payload is larger than all pages together.
func (rx *Rx) maxPayload() uint64 {
	return min(uint64(rx.pages)<<rx.shift, math.MaxInt32)
}

// header returns the serial types of r, and where its values begin.
func (rx *Rx) recordHeader(r *record) (types []byte, body int, err error) {
	types, body, ok := format.RecordHeader(r.local)
	if ok {
		return types, body, nil
	}
	return rx.longHeader(r)
}

// maxAssembled is how large a record may be that is assembled in memory to read its header. The
// header of the 32767 columns that a table may have is shorter.
const maxAssembled = 1 << 20

// longHeader handles a header that goes on in the overflow pages, that of a row with very many columns: the record is
// assembled in memory, or the header alone if the record is large.
func (rx *Rx) longHeader(r *record) (types []byte, body int, err error) {
	if n := format.RecordHeaderLen(r.local); n == 0 || n > r.size || r.overflow == 0 {
		return nil, 0, rx.corrupt(r.pgno, "a record's header is longer than the record")
	}
	size := r.size
	if size > maxAssembled {
		size = format.RecordHeaderLen(r.local)
	}
	if size > maxAssembled {
		return nil, 0, rx.corrupt(r.pgno, "a record's header is longer than any table has columns for")
	}
	b := make([]byte, size)
	if err := rx.payloadAt(r, b, 0); err != nil {
		return nil, 0, err
	}
	if size == r.size {
		r.local, r.overflow = b, 0
	}
	types, body, ok := format.RecordHeader(b)
	if !ok {
		return nil, 0, rx.corrupt(r.pgno, "a record's header is malformed")
	}
	return types, body, nil
}

// A field is where one value of a record lies in its payload.
type field struct {
	typ format.SerialType
	off uint64
}

// nextType splits the next serial type off types.
func nextType(types []byte) (t format.SerialType, rest []byte, ok bool) {
	if len(types) > 0 && types[0] < 0x80 {
		return format.SerialType(types[0]), types[1:], true
	}
	v, n := format.Varint(types)
	if n == 0 {
		return 0, nil, false
	}
	return format.SerialType(v), types[n:], true
}

// field finds value i. It is not there if the record has fewer values: columns were added to the table later. Like SQLite, whoever
// gets to the end of the header demands that the values end with the payload.
func (rx *Rx) field(r *record, i int) (f field, there bool, err error) {
	b := r.local
	if len(b) == 0 || b[0] >= 0x80 || int(b[0]) > len(b) {
		return rx.longField(r, i)
	}
	off := uint64(b[0])
	types := b[min(1, off):off]
	for n, t := range types {
		if t >= 0x80 {
			return rx.fieldFrom(r, types[n:], off, i-n)
		}
		size := format.SerialType(t).Size()
		if n == i {
			f = field{format.SerialType(t), off}
			return f, true, rx.checkEnd(r, off+size, n+1 == len(types))
		}
		off += size
	}
	return f, false, rx.checkNone(r, types, off)
}

// checkEnd wants a value to end within the payload, and the last one at its end.
func (rx *Rx) checkEnd(r *record, end uint64, last bool) error {
	if end > r.size || last && end != r.size {
		return rx.corrupt(r.pgno, "the values of a record do not end where it ends")
	}
	return nil
}

// checkNone is checkEnd for a value that is not there. A header without a type is none, unless its length is 0.
func (rx *Rx) checkNone(r *record, types []byte, end uint64) error {
	if len(types) == 0 && r.local[0] != 0 {
		return rx.corrupt(r.pgno, "a record has no values")
	}
	return rx.checkEnd(r, end, len(types) > 0)
}

// longField is field for a header that is longer than 127 bytes, or goes on in overflow pages.
func (rx *Rx) longField(r *record, i int) (f field, there bool, err error) {
	types, body, err := rx.recordHeader(r)
	if err != nil {
		return f, false, err
	}
	return rx.fieldFrom(r, types, uint64(body), i)
}

// fieldFrom finds the i-th value of those with the given types, the first of which is at off.
func (rx *Rx) fieldFrom(r *record, types []byte, off uint64, i int) (f field, there bool, err error) {
	for ; len(types) > 0; i-- {
		var ok bool
		if f.typ, types, ok = nextType(types); !ok {
			return f, false, rx.corrupt(r.pgno, "a serial type is cut off")
		}
		size := f.typ.Size()
		if size > r.size {
			return f, false, rx.corrupt(r.pgno, "a value runs past the end of its record")
		}
		if i == 0 {
			f.off = off
			return f, true, rx.checkEnd(r, off+size, len(types) == 0)
		}
		off += size
	}
	return f, false, rx.checkEnd(r, off, true)
}

// fieldBytes returns the bytes of a value: a part of the page, or a copy if they lie elsewhere.
func (rx *Rx) fieldBytes(r *record, f field) ([]byte, error) {
	size := f.typ.Size()
	if end := f.off + size; end <= uint64(len(r.local)) {
		return r.local[f.off:end:end], nil
	}
	b := make([]byte, size)
	return b, rx.payloadAt(r, b, f.off)
}

// value decodes one value.
func (rx *Rx) value(r *record, f field) (Value, error) {
	b, err := rx.fieldBytes(r, f)
	if err != nil {
		return Value{}, err
	}
	return decode(f.typ, b, rx.header.Encoding), nil
}

// decode turns the bytes of a value, which are as many as t says, into a Value that points to them. The two types
// without a use are read as NULL, as SQLite does.
func decode(t format.SerialType, b []byte, enc format.Encoding) Value {
	switch {
	case t.IsInt():
		return Value{kind: Integer, num: t.Int(b)}
	case t == format.SerialFloat:
		return floatValue(format.Float(b))
	case t.IsText():
		return Value{kind: Text, data: b, enc: enc}
	case t.IsBlob():
		return Value{kind: Blob, data: b}
	}
	return Value{}
}

// floatValue makes a REAL; a NaN is NULL, as SQLite has none.
func floatValue(f float64) Value {
	if f != f {
		return Value{}
	}
	return Value{kind: Float, real: f}
}

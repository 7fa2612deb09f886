package search

import (
	"encoding/binary"
	"math"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A Payload is the payload of a cell, as far as it lies in the page. The rest is read when a caller
// asks for it.
//
// Invariants, established by Rx.record:
//
//	R1  Local is the start of the payload, which has Size bytes: all of it, or the part that the
//	    page keeps.
//	R2  If len(Local) < Size, the four bytes behind Local, within its capacity, are the number of
//	    the first page of the rest.
type Payload struct {
	Local []byte
	Size  uint32
	Pgno  uint32 // of the cell, to name in errors
}

// Overflow returns the first page of the payload that does not lie in the page of the cell; 0 if
// all of it does.
func (r *Payload) Overflow() uint32 {
	if uint64(len(r.Local)) >= uint64(r.Size) {
		return 0
	}
	return binary.BigEndian.Uint32(r.Local[len(r.Local) : len(r.Local)+4])
}

// Payload lets r be the record whose payload, of the given size, starts at b in page pgno (R1, R2).
func (rx *Rx) Payload(r *Payload, pgno uint32, b []byte, size uint64, spill *format.Spill) error {
	local := spill.Local(size)
	if local > len(b) {
		return rx.Corrupt(pgno, "a cell runs past the end of the page")
	}
	end := local
	if uint64(local) < size {
		if end += 4; end > len(b) {
			return rx.Corrupt(pgno, "a cell runs past the end of the page")
		}
		if size > rx.MaxPayload() {
			return rx.Corrupt(pgno, "a payload larger than the database")
		}
	}
	r.Local, r.Size, r.Pgno = b[:local:end], uint32(size), pgno
	return nil
}

// MaxPayload bounds allocations: no payload is larger than all pages together.
func (rx *Rx) MaxPayload() uint64 {
	return min(uint64(rx.PageCount)<<rx.PageShift, math.MaxInt32)
}

// header returns the serial types of r, and where its values begin.
func (rx *Rx) recordHeader(r *Payload) (types []byte, body int, err error) {
	types, body, ok := format.RecordHeader(r.Local)
	if ok {
		return types, body, nil
	}
	return rx.longHeader(r)
}

// maxAssembled is how large a record may be that is assembled in memory to read its header. The
// header of the 32767 columns that a table may have is shorter.
const maxAssembled = 1 << 20

// longHeader handles a header that goes on in the overflow pages, in a row with very many columns:
// the record is assembled in memory, or the header alone if the record is large.
func (rx *Rx) longHeader(r *Payload) (types []byte, body int, err error) {
	if n := format.RecordHeaderLen(r.Local); n == 0 || n > uint64(r.Size) || r.Overflow() == 0 {
		return nil, 0, rx.Corrupt(r.Pgno, "a record's header is longer than the record")
	}
	size := uint64(r.Size)
	if size > maxAssembled {
		size = format.RecordHeaderLen(r.Local)
	}
	if size > maxAssembled {
		return nil, 0, rx.Corrupt(r.Pgno, "a record's header is longer than any table has columns for")
	}
	b := make([]byte, size)
	if err := rx.PayloadAt(r, b, 0); err != nil {
		return nil, 0, err
	}
	if size == uint64(r.Size) {
		r.Local = b
	}
	types, body, ok := format.RecordHeader(b)
	if !ok {
		return nil, 0, rx.Corrupt(r.Pgno, "a record's header is malformed")
	}
	return types, body, nil
}

// A field is where one value of a record lies in its payload.
type field struct {
	Typ format.SerialType
	Off uint64
}

// Field finds value i. there is false if the record has fewer values: columns were added to the
// table later. If Field reaches the end of the header it demands, like SQLite, that the values end
// with the payload.
func (rx *Rx) Field(r *Payload, i int) (f field, there bool, err error) {
	b := r.Local
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
func (rx *Rx) checkEnd(r *Payload, end uint64, last bool) error {
	if size := uint64(r.Size); end > size || last && end != size {
		return rx.Corrupt(r.Pgno, "the values of a record do not end where it ends")
	}
	return nil
}

// checkNone is checkEnd for a value that is not there. A header without a type is none, unless its
// length is 0.
func (rx *Rx) checkNone(r *Payload, types []byte, end uint64) error {
	if len(types) == 0 && r.Local[0] != 0 {
		return rx.Corrupt(r.Pgno, "a record has no values")
	}
	return rx.checkEnd(r, end, len(types) > 0)
}

// longField is field for a header that is longer than 127 bytes, or goes on in overflow pages.
func (rx *Rx) longField(r *Payload, i int) (f field, there bool, err error) {
	types, body, err := rx.recordHeader(r)
	if err != nil {
		return f, false, err
	}
	return rx.fieldFrom(r, types, uint64(body), i)
}

// fieldFrom finds the i-th value of those with the given types, the first of which is at off.
func (rx *Rx) fieldFrom(r *Payload, types []byte, off uint64, i int) (f field, there bool, err error) {
	for ; len(types) > 0; i-- {
		var ok bool
		if f.Typ, types, ok = record.NextType(types); !ok {
			return f, false, rx.Corrupt(r.Pgno, "a serial type is cut off")
		}
		size := f.Typ.Size()
		if size > uint64(r.Size) {
			return f, false, rx.Corrupt(r.Pgno, "a value runs past the end of its record")
		}
		if i == 0 {
			f.Off = off
			return f, true, rx.checkEnd(r, off+size, len(types) == 0)
		}
		off += size
	}
	return f, false, rx.checkEnd(r, off, true)
}

// FieldBytes returns the bytes of a value: a part of the page, or a copy if they lie elsewhere.
func (rx *Rx) FieldBytes(r *Payload, f field) ([]byte, error) {
	size := f.Typ.Size()
	if end := f.Off + size; end <= uint64(len(r.Local)) {
		return r.Local[f.Off:end:end], nil
	}
	b := make([]byte, size)
	return b, rx.PayloadAt(r, b, f.Off)
}

// value decodes one value.
func (rx *Rx) value(r *Payload, f field) (record.Value, error) {
	b, err := rx.FieldBytes(r, f)
	if err != nil {
		return record.Value{}, err
	}
	return record.Decode(f.Typ, b, rx.Header.Encoding), nil
}

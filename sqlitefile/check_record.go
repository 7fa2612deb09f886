package sqlitefile

import (
	"github.com/foliofs/folio/internal/format"

	"github.com/foliofs/folio/internal/record"
)

// contents holds the values of a record, as far as they are asked for. It is used for one record
// after another; the values are valid until the next but one, as far as they had to be assembled,
// and else as long as the transaction.
type contents struct {
	values []record.Value // one for each field of the record
	arena  []byte         // values that had to be assembled
	cut    bool           // a value that is wanted was too long, and is not there
}

// read reads the record in p. A value that is longer than a number is left without its bytes unless
// wanted says that they are needed. It is not ok, and has been a problem, if the record breaks the
// format.
func (r *contents) read(p *storedPayload, wanted func(field int, t format.SerialType) bool) (ok bool, err error) {
	r.values, r.arena, r.cut = r.values[:0], r.arena[:0], false
	types, ok, err := r.header(p)
	if !ok {
		return false, err
	}
	for field := 0; len(types) > 0; field++ {
		var t format.SerialType
		t, types, _ = record.NextType(types)
		b, ok, err := r.field(p, t.Size(), t.Size() <= 8 || wanted(field, t))
		if !ok {
			return false, err
		}
		if b == nil && t >= format.SerialBlob {
			r.values = append(r.values, record.Decode(t, nil, p.c.encoding()))
			continue
		}
		r.values = append(r.values, record.Decode(t, b, p.c.encoding()))
	}
	return true, nil
}

// field takes a value, or passes over it.
func (r *contents) field(p *storedPayload, size uint64, wanted bool) (b []byte, ok bool, err error) {
	if wanted && uint64(len(r.arena))+size <= p.c.longest {
		return p.take(size, &r.arena)
	}
	r.cut = r.cut || wanted
	ok, err = p.skip(size)
	return nil, ok, err
}

// longestHeader is how long the header of a record may be, as SQLite limits it.
const longestHeader = 98307

// header takes the header of the record, checks it against the payload's size, and returns the
// serial types.
func (r *contents) header(p *storedPayload) (types []byte, ok bool, err error) {
	size := p.size
	n := format.RecordHeaderLen(p.here)
	if n == 0 || n > min(size, longestHeader) {
		return nil, false, p.c.problemf(p.page, "a record of %d bytes has a header of %d", size, n)
	}
	b, ok, err := p.take(n, &r.arena)
	if !ok {
		return nil, false, err
	}
	types, _, ok = format.RecordHeader(b)
	if !ok {
		return nil, false, p.c.problem(p.page, "a record has a malformed header")
	}
	body, ok := bodySize(types)
	switch {
	case !ok:
		return nil, false, p.c.problem(p.page, "the last serial type of a record is cut off")
	case body != size-n:
		return nil, false, p.c.problemf(p.page, "a record has %d bytes for values of %d", size-n, body)
	}
	return types, true, nil
}

// bodySize returns how many bytes values of these serial types take; a very large number for more
// than 2^62.
func bodySize(types []byte) (size uint64, ok bool) {
	for len(types) > 0 {
		var t format.SerialType
		if t, types, ok = record.NextType(types); !ok {
			return 0, false
		}
		size = min(size+t.Size(), 1<<63)
	}
	return size, true
}

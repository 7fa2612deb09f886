package record

import (
	"bytes"
	"cmp"

	"github.com/foliofs/folio/internal/format"
)

// A Order orders the records of an index: one keyColumn for each of their columns. The records are
// the builder's own, in UTF-8, complete and well-formed.
type Order []KeyColumn

// Compare orders two records by the columns in o.
func (o Order) Compare(a, b []byte) int {
	d, _ := o.CompareFrom(0, a, b)
	return d
}

// CompareFrom orders two records by the columns in o from number first on. Null tells whether a
// NULL was among the values compared.
func (o Order) CompareFrom(first int, a, b []byte) (d int, null bool) {
	x, y := Read(a), Read(b)
	for range first {
		x.Next()
		y.Next()
	}
	for i := first; i < len(o); i++ {
		p, q := x.Next(), y.Next()
		null = null || p.Type == format.SerialNull || q.Type == format.SerialNull
		d := compareFields(p, q, o[i].Collation)
		if d != 0 {
			if o[i].Desc {
				d = -d
			}
			return d, null
		}
	}
	return 0, null
}

// Reader walks over the values of a record.
type Reader struct{ types, body []byte }

// A Field is a value as it is stored.
type Field struct {
	Type format.SerialType
	Data []byte // points into the record
}

// Value returns the value, which points into the record.
func (f Field) Value() Value { return Decode(f.Type, f.Data, format.UTF8) }

func Read(record []byte) Reader {
	types, body, _ := format.RecordHeader(record)
	return Reader{types, record[body:]}
}

// Next returns the next value; beyond the last it is NULL.
func (f *Reader) Next() (r Field) {
	typ, n := format.Varint(f.types)
	r.Type = format.SerialType(typ)
	size := r.Type.Size()
	f.types = f.types[n:]
	r.Data, f.body = f.body[:size], f.body[size:]
	return r
}

// storageRank orders the storage classes: NULL, numbers, texts, BLOBs.
func storageRank(t format.SerialType) int {
	switch {
	case t == format.SerialNull:
		return 0
	case t < format.SerialBlob:
		return 1
	case t.IsText():
		return 2
	}
	return 3
}

func compareFields(a, b Field, c Collation) int {
	rank := storageRank(a.Type)
	if d := cmp.Compare(rank, storageRank(b.Type)); d != 0 {
		return d
	}
	switch rank {
	case 1:
		return compareNumbers(a, b)
	case 2:
		return compareTexts(a.Data, b.Data, c)
	}
	return bytes.Compare(a.Data, b.Data)
}

func compareNumbers(a, b Field) int {
	switch {
	case a.Type != format.SerialFloat && b.Type != format.SerialFloat:
		return cmp.Compare(a.Type.Int(a.Data), b.Type.Int(b.Data))
	case a.Type != format.SerialFloat:
		return CompareIntFloat(a.Type.Int(a.Data), format.Float(b.Data))
	case b.Type != format.SerialFloat:
		return -CompareIntFloat(b.Type.Int(b.Data), format.Float(a.Data))
	}
	return cmp.Compare(format.Float(a.Data), format.Float(b.Data))
}

func compareTexts(a, b []byte, c Collation) int {
	switch c {
	case NoCase:
		return CompareNoCase(a, b)
	case RTrim:
		return bytes.Compare(bytes.TrimRight(a, " "), bytes.TrimRight(b, " "))
	}
	return bytes.Compare(a, b)
}

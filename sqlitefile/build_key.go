package sqlitefile

import (
	"bytes"
	"cmp"

	"github.com/foliofs/folio/internal/format"
)

// A keyOrder orders the records of an index: one keyColumn for each of their columns. The records are the builder's own,
// in UTF-8, complete and well-formed.
type keyOrder []keyColumn

// compare orders two records by the columns in o.
func (o keyOrder) compare(a, b []byte) int {
	d, _ := o.compareFrom(0, a, b)
	return d
}

// compareFrom orders two records by the columns in o from number first on. Null tells whether a NULL was among the
// values compared.
func (o keyOrder) compareFrom(first int, a, b []byte) (d int, null bool) {
	x, y := readFields(a), readFields(b)
	for range first {
		x.next()
		y.next()
	}
	for i := first; i < len(o); i++ {
		p, q := x.next(), y.next()
		null = null || p.typ == format.SerialNull || q.typ == format.SerialNull
		d := compareFields(p, q, o[i].collation)
		if d != 0 {
			if o[i].desc {
				d = -d
			}
			return d, null
		}
	}
	return 0, null
}

// fields walks over the values of a record.
type fields struct{ types, body []byte }

// A rawField is a value as it is stored.
type rawField struct {
	typ  format.SerialType
	data []byte // points into the record
}

func readFields(record []byte) fields {
	types, body, _ := format.RecordHeader(record)
	return fields{types, record[body:]}
}

// next returns the next value; beyond the last it is NULL.
func (f *fields) next() (r rawField) {
	typ, n := format.Varint(f.types)
	r.typ = format.SerialType(typ)
	size := r.typ.Size()
	f.types = f.types[n:]
	r.data, f.body = f.body[:size], f.body[size:]
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

func compareFields(a, b rawField, c collation) int {
	rank := storageRank(a.typ)
	if d := cmp.Compare(rank, storageRank(b.typ)); d != 0 {
		return d
	}
	switch rank {
	case 1:
		return compareNumbers(a, b)
	case 2:
		return compareTexts(a.data, b.data, c)
	}
	return bytes.Compare(a.data, b.data)
}

func compareNumbers(a, b rawField) int {
	switch {
	case a.typ != format.SerialFloat && b.typ != format.SerialFloat:
		return cmp.Compare(a.typ.Int(a.data), b.typ.Int(b.data))
	case a.typ != format.SerialFloat:
		return compareIntFloat(a.typ.Int(a.data), format.Float(b.data))
	case b.typ != format.SerialFloat:
		return -compareIntFloat(b.typ.Int(b.data), format.Float(a.data))
	}
	return cmp.Compare(format.Float(a.data), format.Float(b.data))
}

func compareTexts(a, b []byte, c collation) int {
	switch c {
	case collateNoCase:
		return compareNoCase(a, b)
	case collateRTrim:
		return bytes.Compare(bytes.TrimRight(a, " "), bytes.TrimRight(b, " "))
	}
	return bytes.Compare(a, b)
}

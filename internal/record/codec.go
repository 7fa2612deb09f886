package record

import (
	"math"

	"github.com/foliofs/folio/internal/format"
)

// NextType splits the next serial type off types.
func NextType(types []byte) (t format.SerialType, rest []byte, ok bool) {
	if len(types) > 0 && types[0] < 0x80 {
		return format.SerialType(types[0]), types[1:], true
	}
	v, n := format.Varint(types)
	if n == 0 {
		return 0, nil, false
	}
	return format.SerialType(v), types[n:], true
}

// Decode turns the bytes of a value, which are as many as t says, into a Value that points to them.
// The two types without a use are read as NULL, as SQLite does.
func Decode(t format.SerialType, b []byte, enc format.Encoding) Value {
	switch {
	case t.IsInt():
		return OfInt(t.Int(b))
	case t == format.SerialFloat:
		return OfFloat(format.Float(b))
	case t.IsText():
		return OfTextIn(b, enc)
	case t.IsBlob():
		return OfBlob(b)
	}
	return Value{}
}

// EncodeColumn returns a value as a column stores it: a REAL one keeps an integer if that is
// shorter.
func EncodeColumn(v *Value, isReal bool) (typ format.SerialType, b []byte) {
	if isReal && v.Kind() == Float {
		if i, ok := WholeNumber(v.Float()); ok && format.IntType(i) != format.SerialInt64 {
			whole := OfInt(i)
			return Encode(&whole)
		}
	}
	return Encode(v)
}

// ReadsAsNull reports whether SQLite never writes a value, and reads it as NULL.
func ReadsAsNull(typ format.SerialType, b []byte) bool {
	return typ == 10 || typ == 11 || typ == format.SerialFloat && math.IsNaN(format.Float(b))
}

// Encode returns a value as it is stored.
func Encode(v *Value) (typ format.SerialType, b []byte) {
	switch v.Kind() {
	case Integer:
		typ = format.IntType(v.Int())
		return typ, format.AppendInt(nil, typ, v.Int())
	case Float:
		return format.SerialFloat, format.AppendFloat(nil, v.Float())
	case Text:
		return format.SerialText + format.SerialType(2*len(v.Bytes())), v.Bytes()
	case Blob:
		return format.SerialBlob + format.SerialType(2*len(v.Bytes())), v.Bytes()
	}
	return format.SerialNull, nil
}

// Append appends the record of the values to dst.
func Append(dst []byte, values ...Value) []byte {
	types, parts := make([]format.SerialType, len(values)), make([][]byte, len(values))
	for i := range values {
		types[i], parts[i] = Encode(&values[i])
	}
	dst = format.AppendRecordHeader(dst, types...)
	for _, b := range parts {
		dst = append(dst, b...)
	}
	return dst
}

package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
	"unsafe"

	"github.com/foliofs/folio/internal/format"
)

// A Kind is the storage class of a value, in the order in which SQLite sorts them: every number is
// below every text, integers and floats sort together.
type Kind uint8

// SQLite's five storage classes.
const (
	Null Kind = iota
	Integer
	Float
	Text
	Blob
)

func (k Kind) String() string {
	return [...]string{"NULL", "INTEGER", "REAL", "TEXT", "BLOB"}[k]
}

// A Value is one value of a row, in 24 bytes. The bytes of a text or a BLOB belong to the database:
// they may point into a mapped page and are valid until the transaction ends. The zero Value is
// NULL.
type Value struct {
	// data is the first byte of a text or a BLOB, and nil if that is empty. A []byte would need
	// 16 bytes more in every Value, most of which are numbers.
	data *byte
	bits uint64 // of an INTEGER or a REAL, and the number of bytes of a text or a BLOB
	kind Kind
	enc  format.Encoding // of a text
}

// OfInt makes an INTEGER.
func OfInt(i int64) Value { return Value{kind: Integer, bits: uint64(i)} }

// OfFloat makes a REAL; a NaN is NULL, as SQLite has none.
func OfFloat(f float64) Value {
	if f != f {
		return Value{}
	}
	return Value{kind: Float, bits: math.Float64bits(f)}
}

// OfText makes a text of bytes in UTF-8, which it keeps.
func OfText(b []byte) Value { return OfTextIn(b, format.UTF8) }

// OfTextIn makes a text of bytes in an encoding, which it keeps.
func OfTextIn(b []byte, enc format.Encoding) Value {
	return Value{data: unsafe.SliceData(b), bits: uint64(len(b)), kind: Text, enc: enc}
}

// OfBlob makes a BLOB of bytes, which it keeps.
func OfBlob(b []byte) Value {
	return Value{data: unsafe.SliceData(b), bits: uint64(len(b)), kind: Blob}
}

// Kind returns the storage class.
func (v Value) Kind() Kind { return v.kind }

// Enc returns the encoding of a text.
func (v Value) Enc() format.Encoding { return v.enc }

// Int returns an INTEGER. The caller knows that v is one.
func (v Value) Int() int64 { return int64(v.bits) }

// Float returns a REAL. The caller knows that v is one.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Bytes returns the bytes of a text, in its encoding, or of a BLOB, and nil for everything else.
func (v Value) Bytes() []byte {
	if v.kind < Text {
		return nil
	}
	return unsafe.Slice(v.data, v.bits)
}

// Clone returns v with bytes of its own.
func (v Value) Clone() Value {
	if v.kind >= Text {
		v.data = unsafe.SliceData(append([]byte(nil), v.Bytes()...))
	}
	return v
}

// Cut returns a text or a BLOB with its first n bytes, of which there must be as many.
func (v Value) Cut(n int) Value {
	v.bits = uint64(len(v.Bytes()[:n]))
	return v
}

// Int64 returns an INTEGER, or a REAL cut to an integer, the nearest there is; 0 for everything
// else.
func (v Value) Int64() int64 {
	switch {
	case v.kind == Integer:
		return v.Int()
	case v.kind != Float:
		return 0
	case v.Float() >= 1<<63:
		return math.MaxInt64
	case v.Float() <= -1<<63:
		return math.MinInt64
	}
	return int64(v.Float())
}

// Float64 returns a REAL or an INTEGER as a float; 0 for everything else.
func (v Value) Float64() float64 {
	switch v.kind {
	case Integer:
		return float64(v.Int())
	case Float:
		return v.Float()
	}
	return 0
}

// Text returns a copy of a text as UTF-8, or of a BLOB's bytes as they are; "" for everything else.
func (v Value) Text() string {
	if v.Kind() == Text && v.Enc() > format.UTF8 {
		return string(UTF8Of(v.Bytes(), v.Enc()))
	}
	return string(v.Bytes())
}

// Any returns a copy of v as nil, int64, float64, string or []byte.
func (v Value) Any() any {
	switch v.Kind() {
	case Integer:
		return v.Int()
	case Float:
		return v.Float()
	case Text:
		return v.Text()
	case Blob:
		return append([]byte{}, v.Bytes()...)
	}
	return nil
}

// String formats v for people.
func (v Value) String() string {
	switch v.Kind() {
	case Null:
		return "NULL"
	case Blob:
		return fmt.Sprintf("x'%x'", v.Bytes())
	}
	return fmt.Sprint(v.Any())
}

// TextBytes views a string as bytes without a copy. The caller only reads them, and no longer than
// the string lives.
func TextBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// UTF8Of converts UTF-16 text. An odd last byte is dropped and a lone surrogate becomes U+FFFD.
func UTF8Of(b []byte, enc format.Encoding) []byte {
	order := byteOrder(enc)
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// UTF16Of converts UTF-8 text to the encoding of the database.
func UTF16Of(b []byte, enc format.Encoding) []byte {
	order := byteOrder(enc)
	units := utf16.Encode([]rune(string(b)))
	out := make([]byte, 0, 2*len(units))
	for _, u := range units {
		out = order.AppendUint16(out, u)
	}
	return out
}

type orderer interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func byteOrder(enc format.Encoding) orderer {
	if enc == format.UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

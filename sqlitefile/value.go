package sqlitefile

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
	"unsafe"

	"github.com/foliofs/folio/internal/format"
)

// A Kind is the storage class of a value, in the order in which SQLite sorts them: every number is below every
// text, integers and floats sort together.
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

// A Value is one value of a row. The bytes of a text or a BLOB belong to the database: they may point into a
// mapped page and are valid until the transaction ends. The zero Value is NULL.
type Value struct {
	data []byte // text, in enc, or BLOB
	num  int64
	real float64
	kind Kind
	enc  format.Encoding
}

// Kind returns the storage class.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is NULL.
func (v Value) IsNull() bool { return v.kind == Null }

// Int64 returns an INTEGER, or a REAL cut to an integer, the nearest there is; 0 for everything else.
func (v Value) Int64() int64 {
	switch {
	case v.kind != Float:
		return v.num
	case v.real >= 1<<63:
		return math.MaxInt64
	case v.real <= -1<<63:
		return math.MinInt64
	}
	return int64(v.real)
}

// Float64 returns a REAL or an INTEGER as a float; 0 for everything else.
func (v Value) Float64() float64 {
	if v.kind == Integer {
		return float64(v.num)
	}
	return v.real
}

// Bytes returns the bytes of a text, in the database's encoding, or of a BLOB. They are valid until the transaction
// ends and must not be changed.
func (v Value) Bytes() []byte { return v.data }

// Text returns a copy of a text as UTF-8, or of a BLOB's bytes as they are; "" for everything else.
func (v Value) Text() string {
	if v.kind == Text && v.enc > format.UTF8 {
		return string(utf8Of(v.data, v.enc))
	}
	return string(v.data)
}

// Any returns a copy of v as nil, int64, float64, string or []byte.
func (v Value) Any() any {
	switch v.kind {
	case Integer:
		return v.num
	case Float:
		return v.real
	case Text:
		return v.Text()
	case Blob:
		return append([]byte{}, v.data...)
	}
	return nil
}

// String formats v for people.
func (v Value) String() string {
	switch v.kind {
	case Null:
		return "NULL"
	case Blob:
		return fmt.Sprintf("x'%x'", v.data)
	}
	return fmt.Sprint(v.Any())
}

// textBytes views a string as bytes without a copy. The caller only reads them, and no longer than the string lives.
func textBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// utf8Of converts UTF-16 text. An odd last byte is dropped and a lone surrogate becomes U+FFFD.
func utf8Of(b []byte, enc format.Encoding) []byte {
	order := byteOrder(enc)
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// utf16Of converts UTF-8 text to the encoding of the database.
func utf16Of(b []byte, enc format.Encoding) []byte {
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

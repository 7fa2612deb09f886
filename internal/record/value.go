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

// A Value is one value of a row. The bytes of a text or a BLOB belong to the database: they may
// point into a mapped page and are valid until the transaction ends. The zero Value is NULL.
type Value struct {
	Data  []byte // text, in enc, or BLOB
	Int   int64
	Float float64
	Kind  Kind
	Enc   format.Encoding
}

// Int64 returns an INTEGER, or a REAL cut to an integer, the nearest there is; 0 for everything
// else.
func (v Value) Int64() int64 {
	switch {
	case v.Kind != Float:
		return v.Int
	case v.Float >= 1<<63:
		return math.MaxInt64
	case v.Float <= -1<<63:
		return math.MinInt64
	}
	return int64(v.Float)
}

// Float64 returns a REAL or an INTEGER as a float; 0 for everything else.
func (v Value) Float64() float64 {
	if v.Kind == Integer {
		return float64(v.Int)
	}
	return v.Float
}

// Text returns a copy of a text as UTF-8, or of a BLOB's bytes as they are; "" for everything else.
func (v Value) Text() string {
	if v.Kind == Text && v.Enc > format.UTF8 {
		return string(UTF8Of(v.Data, v.Enc))
	}
	return string(v.Data)
}

// Any returns a copy of v as nil, int64, float64, string or []byte.
func (v Value) Any() any {
	switch v.Kind {
	case Integer:
		return v.Int
	case Float:
		return v.Float
	case Text:
		return v.Text()
	case Blob:
		return append([]byte{}, v.Data...)
	}
	return nil
}

// String formats v for people.
func (v Value) String() string {
	switch v.Kind {
	case Null:
		return "NULL"
	case Blob:
		return fmt.Sprintf("x'%x'", v.Data)
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

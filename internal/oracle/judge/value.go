package judge

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is a storage class, in SQLite's order of typeof.
type Kind uint8

// The five storage classes.
const (
	Null Kind = iota
	Integer
	Real
	Text
	Blob
)

var kindNames = [...]string{"null", "integer", "real", "text", "blob"}

func (k Kind) String() string { return kindNames[k] }

// kindOf is the Kind that SQLite's typeof names.
func kindOf(name string) Kind {
	for i, n := range kindNames {
		if n == name {
			return Kind(i)
		}
	}
	return Null
}

// Value is one value as stored: the bytes of a text are in the database's own encoding.
type Value struct {
	Kind  Kind
	Int   int64
	Real  float64
	Bytes []byte
}

// Equal reports whether both have the same storage class and the same bits.
func (v Value) Equal(w Value) bool {
	if v.Kind != w.Kind {
		return false
	}
	switch v.Kind {
	case Integer:
		return v.Int == w.Int
	case Real:
		return math.Float64bits(v.Real) == math.Float64bits(w.Real)
	case Text, Blob:
		return bytes.Equal(v.Bytes, w.Bytes)
	}
	return true
}

// Append appends an encoding of v that differs for any two values that are not Equal.
func (v Value) Append(b []byte) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case Integer:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.Int))
	case Real:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Real))
	case Text, Blob:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v.Bytes)))
		b = append(b, v.Bytes...)
	}
	return b
}

func (v Value) String() string {
	switch v.Kind {
	case Integer:
		return fmt.Sprintf("%d", v.Int)
	case Real:
		return fmt.Sprintf("%x (%g)", v.Real, v.Real)
	case Text:
		return fmt.Sprintf("text[%d] %.60q", len(v.Bytes), v.Bytes)
	case Blob:
		return fmt.Sprintf("blob[%d] %.40x", len(v.Bytes), v.Bytes)
	}
	return "NULL"
}

// Any is v as an argument for a statement or a key; a text must be UTF-8.
func (v Value) Any() any {
	switch v.Kind {
	case Integer:
		return v.Int
	case Real:
		return v.Real
	case Text:
		return string(v.Bytes)
	case Blob:
		return v.Bytes
	}
	return nil
}

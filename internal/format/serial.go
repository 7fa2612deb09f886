package format

import (
	"encoding/binary"
	"math"
)

// A SerialType says how a value is stored in a record, and how many bytes it takes.
//
//	TYPE          SIZE      VALUE
//	0             0         NULL
//	1 to 4        1 to 4    big-endian signed integer
//	5             6         big-endian signed integer
//	6             8         big-endian signed integer
//	7             8         big-endian IEEE 754 number
//	8, 9          0         the integers 0 and 1
//	10, 11        -         not used in a file
//	N>=12, even   (N-12)/2  BLOB
//	N>=13, odd    (N-13)/2  text
type SerialType uint64

// The serial types that have names of their own.
const (
	SerialNull  SerialType = 0
	SerialInt64 SerialType = 6
	SerialFloat SerialType = 7
	SerialZero  SerialType = 8
	SerialOne   SerialType = 9
	SerialBlob  SerialType = 12 // of no bytes
	SerialText  SerialType = 13 // of no bytes
)

var serialSizes = [12]uint8{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}

// Size returns how many bytes a value of type t takes.
func (t SerialType) Size() uint64 {
	if t < 12 {
		return uint64(serialSizes[t])
	}
	return (uint64(t) - 12) / 2
}

// IsInt reports whether t is one of the integer types.
func (t SerialType) IsInt() bool { return t >= 1 && t <= 6 || t == SerialZero || t == SerialOne }

// IsText reports whether t is text.
func (t SerialType) IsText() bool { return t >= 13 && t&1 == 1 }

// IsBlob reports whether t is a BLOB.
func (t SerialType) IsBlob() bool { return t >= 12 && t&1 == 0 }

// Int decodes the integer of type t at the start of b, which must hold t.Size() bytes. Types that
// are not integers give 0.
func (t SerialType) Int(b []byte) int64 {
	switch t {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 3:
		return int64(int8(b[0]))<<16 | int64(b[1])<<8 | int64(b[2])
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 5:
		return int64(int16(binary.BigEndian.Uint16(b)))<<32 | int64(binary.BigEndian.Uint32(b[2:]))
	case 6:
		return int64(binary.BigEndian.Uint64(b))
	case SerialOne:
		return 1
	}
	return 0
}

// Float decodes a value of type SerialFloat, which must be 8 bytes.
func Float(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) }

// IntType returns the shortest type that holds v.
func IntType(v int64) SerialType {
	switch {
	case v == 0:
		return SerialZero
	case v == 1:
		return SerialOne
	}
	u := uint64(v ^ v>>63) // magnitude, less one for negative numbers
	switch {
	case u < 1<<7:
		return 1
	case u < 1<<15:
		return 2
	case u < 1<<23:
		return 3
	case u < 1<<31:
		return 4
	case u < 1<<47:
		return 5
	}
	return SerialInt64
}

// AppendInt appends v as a value of type t, which must be wide enough.
func AppendInt(b []byte, t SerialType, v int64) []byte {
	for i := int(t.Size()) - 1; i >= 0; i-- {
		b = append(b, byte(v>>(8*i)))
	}
	return b
}

// AppendFloat appends v as a value of type SerialFloat.
func AppendFloat(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(v))
}

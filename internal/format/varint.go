package format

import "math/bits"

// MaxVarintLen is the length of the longest variable-length integer, in bytes.
const MaxVarintLen = 9

// Varint decodes the big-endian base-128 integer at the start of b and returns it with its length
// in bytes. The first eight bytes carry seven bits each, below a flag that says that another byte
// follows; a ninth carries eight. The length is 0 if b ends too early.
//
// The two shortest forms, which are nearly all that a database holds, come first. The hottest
// callers decode the first themselves, as the function is just too large for the compiler to
// inline.
func Varint(b []byte) (uint64, int) {
	if len(b) == 0 || b[0] >= 0x80 {
		return longVarint(b)
	}
	return uint64(b[0]), 1
}

func longVarint(b []byte) (v uint64, n int) {
	if len(b) > 1 && b[1] < 0x80 {
		return uint64(b[0]&0x7f)<<7 | uint64(b[1]), 2
	}
	for i, c := range b {
		if i == MaxVarintLen-1 {
			return v<<8 | uint64(c), MaxVarintLen
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// VarintLen returns the number of bytes that v takes as a variable-length integer: 1 to 9.
func VarintLen(v uint64) int {
	if v >= 1<<56 {
		return MaxVarintLen
	}
	return (bits.Len64(v|1) + 6) / 7
}

// AppendVarint appends v to b in its shortest form.
func AppendVarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	var buf [MaxVarintLen]byte
	n := PutVarint(buf[:], v)
	return append(b, buf[:n]...)
}

// PutVarint writes v in its shortest form to the start of b, which must be long enough, and returns
// the length.
func PutVarint(b []byte, v uint64) int {
	n := VarintLen(v)
	last := n - 1
	if n == MaxVarintLen {
		b[last] = byte(v)
		v >>= 8
		last--
	} else {
		b[last] = byte(v & 0x7f)
		v >>= 7
		last--
	}
	for i := last; i >= 0; i-- {
		b[i] = byte(v&0x7f) | 0x80
		v >>= 7
	}
	return n
}

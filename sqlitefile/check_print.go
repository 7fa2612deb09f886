package sqlitefile

import (
	"encoding/binary"
	"hash/maphash"
	"math"
)

// A fingerprint stands for a multiset of keys: it is the sum of their hashes. That of what an index holds and that of
// what the rows of its table ask for are equal if they hold the same keys in any order and, as nobody knows the seed,
// by chance else only once in 2^64. So an index is held against its table by reading each once.
type fingerprint struct {
	sum   uint64
	count uint64
}

func (f *fingerprint) add(seed maphash.Seed, key []byte) {
	f.sum += maphash.Bytes(seed, key)
	f.count++
}

// appendPrint appends v in a form that is the same for equal values only: numbers by value, whether integer or
// float, and texts and BLOBs by their bytes, whatever the collation.
func appendPrint(b []byte, v *Value) []byte {
	switch v.kind {
	case Integer:
		return appendPrintInt(b, v.num)
	case Float:
		if v.real >= -1<<63 && v.real < 1<<63 && v.real == math.Trunc(v.real) {
			return appendPrintInt(b, int64(v.real))
		}
		return binary.BigEndian.AppendUint64(append(b, byte(Float)), math.Float64bits(v.real))
	case Text, Blob:
		b = binary.AppendUvarint(append(b, byte(v.kind)), uint64(len(v.data)))
		return append(b, v.data...)
	}
	return append(b, byte(Null))
}

func appendPrintInt(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(Integer)), uint64(v))
}

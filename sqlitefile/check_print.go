package sqlitefile

import (
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/foliofs/folio/internal/record"
)

// A fingerprint stands for a multiset of keys: it is the sum of their hashes. That of the entries
// of an index and that of the entries that the rows of its table need are equal if they hold the
// same keys in any order and, as the seed is random, by chance else only once in 2^64. So an
// index is held against its table by reading each once.
type fingerprint struct {
	sum   uint64
	count uint64
}

func (f *fingerprint) add(seed maphash.Seed, key []byte) {
	f.sum += maphash.Bytes(seed, key)
	f.count++
}

// appendPrint appends v in a form that is the same for equal values only: numbers by value, whether
// integer or float, and texts and BLOBs by their bytes, whatever the collation.
func appendPrint(b []byte, v *record.Value) []byte {
	switch v.Kind {
	case record.Integer:
		return appendPrintInt(b, v.Int)
	case record.Float:
		if v.Float >= -1<<63 && v.Float < 1<<63 && v.Float == math.Trunc(v.Float) {
			return appendPrintInt(b, int64(v.Float))
		}
		return binary.BigEndian.AppendUint64(append(b, byte(record.Float)), math.Float64bits(v.Float))
	case record.Text, record.Blob:
		b = binary.AppendUvarint(append(b, byte(v.Kind)), uint64(len(v.Data)))
		return append(b, v.Data...)
	}
	return append(b, byte(record.Null))
}

func appendPrintInt(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(record.Integer)), uint64(v))
}

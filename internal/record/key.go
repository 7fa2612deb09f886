package record

import (
	"cmp"

	"github.com/foliofs/folio/internal/format"
)

// A Key is the key of a search in an index, or in a table WITHOUT ROWID: values for its first
// columns.
type Key struct {
	Values  []Value
	Columns []KeyColumn // at least as many
}

// Compare orders the record b, which lies wholly in its page, against k. ok is false if the record
// is malformed or holds anything but the common case: texts compared by their bytes, and integers.
//
// A search spends its time here. So there are no calls that a few instructions can replace.
func (k *Key) Compare(b []byte) (c int, ok bool) {
	if len(b) < 2 || b[0] >= 0x80 {
		return 0, false
	}
	header, off := 1, int(b[0])
	for j := range k.Values {
		if header+2 > len(b) || header >= off || off > len(b) {
			return 0, false
		}
		t := int(b[header])
		header++
		if t >= 0x80 {
			if b[header] >= 0x80 {
				return 0, false
			}
			t = t&0x7f<<7 | int(b[header])
			header++
		}
		v, stored := &k.Values[j], b[off:]
		switch {
		case v.Kind() == Text && t >= 13 && t&1 == 1 && k.Columns[j].Collation == Binary:
			t = (t - 13) / 2
			if t > len(stored) {
				return 0, false
			}
			c = compareBytes(stored[:t], v.Bytes())
			off += t
		case v.Kind() == Integer && format.SerialType(t).IsInt():
			size := int(format.SerialType(t).Size())
			if size > len(stored) {
				return 0, false
			}
			c = cmp.Compare(format.SerialType(t).Int(stored), v.Int())
			off += size
		default:
			return 0, false
		}
		if c != 0 {
			if k.Columns[j].Desc {
				c = -c
			}
			return c, true
		}
	}
	return 0, true
}

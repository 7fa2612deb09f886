package record

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strings"

	"github.com/foliofs/folio/internal/format"
)

// A Collation orders texts. Only SQLite's three own ones are known here.
type Collation uint8

const (
	Binary Collation = iota
	NoCase
	RTrim
	UnknownCollation // defined by an application: nothing can be found by it
)

func CollationOf(name string) Collation {
	switch {
	case name == "" || strings.EqualFold(name, "BINARY"):
		return Binary
	case strings.EqualFold(name, "NOCASE"):
		return NoCase
	case strings.EqualFold(name, "RTRIM"):
		return RTrim
	}
	return UnknownCollation
}

// A KeyColumn tells how one column of a key is ordered.
type KeyColumn struct {
	Collation Collation
	Desc      bool
}

// rank puts the storage classes in order; integers and floats share a place.
var rank = [...]uint8{Null: 0, Integer: 1, Float: 1, Text: 2, Blob: 3}

// Compare orders two values as SQLite does: NULL, numbers by value, texts by collation, BLOBs by
// their bytes.
func Compare(a, b *Value, c Collation) int {
	if a.Kind() == b.Kind() {
		switch a.Kind() {
		case Integer:
			return cmp.Compare(a.Int(), b.Int())
		case Text:
			return c.compare(a, b)
		case Blob:
			return bytes.Compare(a.Bytes(), b.Bytes())
		case Float:
			return cmp.Compare(a.Float(), b.Float())
		}
		return 0
	}
	if d := cmp.Compare(rank[a.Kind()], rank[b.Kind()]); d != 0 {
		return d
	}
	if a.Kind() == Integer {
		return CompareIntFloat(a.Int(), b.Float())
	}
	return -CompareIntFloat(b.Int(), a.Float())
}

// CompareIntFloat compares an integer with a float. Nothing is lost, as it would be by converting a
// large integer to a float.
func CompareIntFloat(i int64, f float64) int {
	switch {
	case f < -1<<63:
		return 1
	case f >= 1<<63:
		return -1
	}
	if d := cmp.Compare(i, int64(f)); d != 0 {
		return d
	}
	return cmp.Compare(float64(i), f)
}

// compare orders two texts of the same encoding. BINARY compares the bytes as they are stored,
// whatever the encoding; the other two are defined on UTF-8.
func (c Collation) compare(a, b *Value) int {
	if c == Binary {
		return bytes.Compare(a.Bytes(), b.Bytes())
	}
	x, y := a.Bytes(), b.Bytes()
	if a.Enc() > format.UTF8 {
		x, y = translate(x, a.Enc()), translate(y, b.Enc())
	}
	if c == NoCase {
		return CompareNoCase(x, y)
	}
	return bytes.Compare(bytes.TrimRight(x, " "), bytes.TrimRight(y, " "))
}

// translate converts UTF-16 to the UTF-8 that SQLite compares: it takes any half of a surrogate
// pair, and whatever follows it, for a pair. If nothing does, the half is encoded as it is.
func translate(b []byte, enc format.Encoding) []byte {
	order := byteOrder(enc)
	out := make([]byte, 0, len(b)/2*3)
	for ; len(b) >= 2; b = b[2:] {
		c := uint32(order.Uint16(b))
		if c >= 0xd800 && c < 0xe000 && len(b) >= 4 {
			b = b[2:]
			c = uint32(order.Uint16(b))&0x3ff | c&0x3f<<10 | (c&0x3c0+0x40)<<10
		}
		switch {
		case c < 0x80:
			out = append(out, byte(c))
		case c < 0x800:
			out = append(out, 0xc0|byte(c>>6), 0x80|byte(c&0x3f))
		case c < 0x10000:
			out = append(out, 0xe0|byte(c>>12), 0x80|byte(c>>6&0x3f), 0x80|byte(c&0x3f))
		default:
			out = append(out, 0xf0|byte(c>>18), 0x80|byte(c>>12&0x3f), 0x80|byte(c>>6&0x3f), 0x80|byte(c&0x3f))
		}
	}
	return out
}

// CompareNoCase compares two texts as SQLite's collation NOCASE does: it folds the 26 letters of
// ASCII. If both texts have a zero byte at the same place, it looks no further and compares
// their lengths.
func CompareNoCase(x, y []byte) int {
	for i := range min(len(x), len(y)) {
		if d := cmp.Compare(lower(x[i]), lower(y[i])); d != 0 {
			return d
		}
		if x[i] == 0 {
			break
		}
	}
	return cmp.Compare(len(x), len(y))
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// compareBytes is bytes.Compare, with an answer at hand if the first eight bytes differ.
func compareBytes(a, b []byte) int {
	if len(a) >= 8 && len(b) >= 8 {
		if x, y := binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b); x != y {
			return cmp.Compare(x, y)
		}
	}
	return bytes.Compare(a, b)
}

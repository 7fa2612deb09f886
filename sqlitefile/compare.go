package sqlitefile

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/foliofs/folio/internal/format"
)

// A collation orders texts. Only SQLite's three own ones are known here.
type collation uint8

const (
	collateBinary collation = iota
	collateNoCase
	collateRTrim
	collateUnknown // defined by an application: nothing can be found by it
)

func collationOf(name string) collation {
	switch {
	case name == "" || strings.EqualFold(name, "BINARY"):
		return collateBinary
	case strings.EqualFold(name, "NOCASE"):
		return collateNoCase
	case strings.EqualFold(name, "RTRIM"):
		return collateRTrim
	}
	return collateUnknown
}

// rank puts the storage classes in order; integers and floats share a place.
var rank = [...]uint8{Null: 0, Integer: 1, Float: 1, Text: 2, Blob: 3}

// compare orders two values as SQLite does: NULL, numbers by value, texts by collation, BLOBs by their bytes.
func compare(a, b *Value, c collation) int {
	if a.kind == b.kind {
		switch a.kind {
		case Integer:
			return cmp.Compare(a.num, b.num)
		case Text:
			return c.compare(a, b)
		case Blob:
			return bytes.Compare(a.data, b.data)
		case Float:
			return cmp.Compare(a.real, b.real)
		}
		return 0
	}
	if d := cmp.Compare(rank[a.kind], rank[b.kind]); d != 0 {
		return d
	}
	if a.kind == Integer {
		return compareIntFloat(a.num, b.real)
	}
	return -compareIntFloat(b.num, a.real)
}

// compareIntFloat compares without the loss that converting a large integer to a float would bring.
func compareIntFloat(i int64, f float64) int {
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

// compare orders two texts of the same encoding. BINARY compares the bytes as they are stored, whatever the encoding;
// the other two are defined on UTF-8.
func (c collation) compare(a, b *Value) int {
	if c == collateBinary {
		return bytes.Compare(a.data, b.data)
	}
	x, y := a.data, b.data
	if a.enc > format.UTF8 {
		x, y = translate(x, a.enc), translate(y, b.enc)
	}
	if c == collateNoCase {
		return compareNoCase(x, y)
	}
	return bytes.Compare(bytes.TrimRight(x, " "), bytes.TrimRight(y, " "))
}

// translate converts UTF-16 to the UTF-8 that SQLite compares: it takes any half of a surrogate pair, and whatever
// follows it, for a pair. Where nothing does, the half is encoded as it is.
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

// compareNoCase folds the 26 letters of ASCII. Like SQLite's it looks no further than a zero byte that both texts
// have at the same place, from where on only their lengths count.
func compareNoCase(x, y []byte) int {
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

package btree

import (
	"encoding/binary"
	"math"

	"github.com/foliofs/folio/internal/format"
)

// A Node is a b-tree page in place: in the map, or in a buffer of the page cache. Nothing is
// decoded before a method needs it.
//
// Invariants, established by parse and relied on below:
//
//	N1  data is exactly the usable part of page pgno.
//	N2  kind is one of the four kinds.
//	N3  The array of cell offsets, which starts at array, is within data: array + 2*cells <=
//	    len(data).
//
// Offsets of cells and the content of cells are not checked ahead: a method that follows an offset
// checks it.
type Node struct {
	Data  []byte
	Pgno  uint32
	Kind  format.PageKind
	array int // offset of the array of cell offsets
	Cells int
}

// ParseNode makes a node of the usable bytes of a page. ok reports whether they have N2 and N3.
func ParseNode(data []byte, pgno uint32) (n Node, ok bool) {
	ok = n.Parse(data, pgno)
	return n, ok
}

// Parse makes n the node of the usable bytes of a page, and reports whether they have N2 and N3
// (N1).
func (n *Node) Parse(data []byte, pgno uint32) (ok bool) {
	at := 0
	if pgno == 1 {
		at = format.HeaderSize
	}
	b := data[at : at+12]
	kind := format.PageKind(b[0])
	n.Data, n.Pgno, n.Kind = data, pgno, kind
	n.Cells = int(b[3])<<8 | int(b[4])
	n.array = at + 12
	if kind >= format.LeafIndex {
		n.array = at + 8
	}
	return kind.Valid() && n.array+2*n.Cells <= len(data)
}

// Empty reports whether the page has no cells, which only the root of a tree may lack, as only that
// of sqlite_schema may where it is no leaf.
func (n *Node) Empty(root uint32) bool {
	return n.Cells == 0 && (n.Pgno != root || !n.Kind.Leaf() && root != 1)
}

// FaultEmpty says that a page has no cells where it must have some.
const FaultEmpty = "a page of a b-tree is empty"

// Wrong says why parse has failed.
func (n *Node) Wrong() string {
	if !n.Kind.Valid() {
		return "not a b-tree page"
	}
	return "more cells than fit"
}

// Offset returns where cell i starts; it may be anywhere from 0 to 65535.
func (n *Node) Offset(i int) int {
	return int(binary.BigEndian.Uint16(n.Data[n.array+2*i:]))
}

// right returns the right-most child of an interior page.
func (n *Node) right() uint32 {
	return binary.BigEndian.Uint32(n.Data[n.array-4:])
}

// Child returns the i-th child of an interior page, 0 <= i <= cells.
func (n *Node) Child(i int) (pgno uint32, ok bool) {
	if i == n.Cells {
		return n.right(), true
	}
	off := n.Offset(i)
	if off+4 > len(n.Data) {
		return 0, false
	}
	return binary.BigEndian.Uint32(n.Data[off:]), true
}

// Rowid returns the key of cell i in a table page.
func (n *Node) Rowid(i int) (rowid int64, ok bool) {
	off := n.Offset(i)
	if n.Kind == format.InteriorTable {
		off += 4
	} else {
		for off < len(n.Data) && n.Data[off] >= 0x80 { // the size of the payload, mostly one or two bytes
			off++
		}
		off++
	}
	if off >= len(n.Data) {
		return 0, false
	}
	if v, m := ShortVarint(n.Data[off:]); m > 0 {
		return int64(v), true
	}
	v, m := format.Varint(n.Data[off:])
	return int64(v), m > 0
}

// A Span is where the keys of a table page are known, or guessed, to be: low < key <= high. It
// only guides a search, and may be wrong.
type Span struct{ low, high int64 }

// Everything is the span to start from: rowids are rarely negative.
var Everything = Span{0, MaxRowid}

// SearchRowid returns the first cell of a table page whose key is rowid or more, cells if there is
// none, and whether it is rowid itself.
//
// Rowids are mostly dense, so the first probes go where the key would stand if the keys were evenly
// spread over s: that saves most of the cache misses and of the mispredicted branches of a binary
// search. If they are not, it is one.
func (n *Node) SearchRowid(rowid int64, s Span) (i int, found, ok bool) {
	lo, hi := 0, n.Cells
	if s.high == MaxRowid && hi > 0 {
		s.high, _ = n.Rowid(hi - 1)
	}
	for probes := 0; lo < hi; probes++ {
		probe := int(uint(lo+hi) / 2)
		if probes < evenProbes {
			probe = lo + s.position(rowid, hi-lo)
		}
		key, valid := n.Rowid(probe)
		switch {
		case !valid:
			return 0, false, false
		case key == rowid:
			return probe, true, true
		case key < rowid:
			lo, s.low = probe+1, key
		default:
			hi, s.high = probe, key-1
		}
	}
	return lo, false, true
}

// evenProbes is how many probes assume that the keys are evenly spread.
const evenProbes = 3

// position returns where, among n > 0 keys evenly spread over s, rowid stands: 0 to n-1. Where s
// says nothing, because rowid is outside or it is too wide to multiply with, that is the middle.
func (s Span) position(rowid int64, n int) int {
	width := uint64(s.high) - uint64(s.low)
	if rowid <= s.low || rowid > s.high || width >= 1<<47 {
		return n / 2
	}
	return int((uint64(rowid) - uint64(s.low) - 1) * uint64(n) / width)
}

// Narrow returns the span of the i-th child of an interior table page with the span s.
func (n *Node) Narrow(s Span, i int) Span {
	if i > 0 {
		if k, ok := n.Rowid(i - 1); ok {
			s.low = k
		}
	}
	if i < n.Cells {
		if k, ok := n.Rowid(i); ok {
			s.high = k
		}
	}
	return s
}

// Payload returns the size of the payload of cell i in an index page, and where it starts.
func (n *Node) Payload(i int) (size uint64, off int, ok bool) {
	off = n.Offset(i)
	if !n.Kind.Leaf() {
		off += 4
	}
	if off+2 > len(n.Data) {
		return 0, 0, false
	}
	switch c, d := n.Data[off], n.Data[off+1]; {
	case c < 0x80:
		return uint64(c), off + 1, true
	case d < 0x80:
		return uint64(c&0x7f)<<7 | uint64(d), off + 2, true
	}
	size, m := format.Varint(n.Data[off:])
	return size, off + m, m > 0
}

// ShortVarint decodes a varint of up to three bytes; the length is 0 if it is longer, or b too
// short to tell.
func ShortVarint(b []byte) (v uint64, n int) {
	if len(b) < 3 {
		return 0, 0
	}
	switch {
	case b[0] < 0x80:
		return uint64(b[0]), 1
	case b[1] < 0x80:
		return uint64(b[0]&0x7f)<<7 | uint64(b[1]), 2
	case b[2] < 0x80:
		return uint64(b[0]&0x7f)<<14 | uint64(b[1]&0x7f)<<7 | uint64(b[2]), 3
	}
	return 0, 0
}

// MaxDepth is how deep a b-tree can be, as SQLite limits it.
const MaxDepth = 20

const MaxRowid = math.MaxInt64

func Be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// MinCell is the least space that a cell takes in a page: the size of a freeblock.
const MinCell = 4

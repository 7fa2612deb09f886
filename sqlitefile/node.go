package sqlitefile

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// A node is a b-tree page where it lies: in the map, or in a buffer of the page cache. Nothing is decoded before
// somebody asks for it.
//
// Invariants, established by Rx.node and relied on below:
//
//	N1  data is exactly the usable part of page pgno.
//	N2  kind is one of the four kinds.
//	N3  The array of cell offsets, which starts at array, lies within data: array + 2*cells <= len(data).
//
// Offsets of cells and what stands in them are not checked ahead; whoever follows one checks it.
type node struct {
	data  []byte
	pgno  uint32
	kind  format.PageKind
	array int // offset of the array of cell offsets
	cells int
}

// node returns b-tree page pgno.
func (rx *Rx) node(pgno uint32) (n node, err error) {
	data, err := rx.page(pgno)
	if err != nil {
		return n, err
	}
	at := format.PageHeaderAt(pgno)
	b := data[at : at+12]
	n = node{data: data, pgno: pgno, kind: format.PageKind(b[0])}
	if !n.kind.Valid() {
		return n, rx.corrupt(pgno, "not a b-tree page")
	}
	n.cells = int(binary.BigEndian.Uint16(b[3:]))
	n.array = at + n.kind.HeaderLen()
	if n.array+2*n.cells > len(data) {
		return n, rx.corrupt(pgno, "more cells than fit")
	}
	return n, nil
}

// offset returns where cell i starts; it may be anywhere from 0 to 65535.
func (n *node) offset(i int) int {
	return int(binary.BigEndian.Uint16(n.data[n.array+2*i:]))
}

// right returns the right-most child of an interior page.
func (n *node) right() uint32 {
	return binary.BigEndian.Uint32(n.data[n.array-4:])
}

// child returns the i-th child of an interior page, 0 <= i <= cells.
func (n *node) child(i int) (pgno uint32, ok bool) {
	if i == n.cells {
		return n.right(), true
	}
	off := n.offset(i)
	if off+4 > len(n.data) {
		return 0, false
	}
	return binary.BigEndian.Uint32(n.data[off:]), true
}

// rowid returns the key of cell i in a table page.
func (n *node) rowid(i int) (rowid int64, ok bool) {
	off := n.offset(i)
	if n.kind == format.InteriorTable {
		off += 4
	} else {
		for off < len(n.data) && n.data[off] >= 0x80 { // the size of the payload, mostly one or two bytes
			off++
		}
		off++
	}
	if off >= len(n.data) {
		return 0, false
	}
	if v, m := shortVarint(n.data[off:]); m > 0 {
		return int64(v), true
	}
	v, m := format.Varint(n.data[off:])
	return int64(v), m > 0
}

// A span is where the keys of a table page are known, or guessed, to lie: low < key <= high. It only guides a
// search, and may be wrong.
type span struct{ low, high int64 }

// everything is the span to start from: rowids are rarely negative.
var everything = span{0, maxRowid}

// searchRowid returns the first cell of a table page whose key is rowid or more, cells if there is none, and whether
// it is rowid itself.
//
// Rowids are mostly dense, so the first probes go where the key would stand if the keys were evenly spread over s: that
// saves most of the cache misses and of the mispredicted branches of a binary search. Where they are not, it is one.
func (n *node) searchRowid(rowid int64, s span) (i int, found, ok bool) {
	lo, hi := 0, n.cells
	if s.high == maxRowid && hi > 0 {
		s.high, _ = n.rowid(hi - 1)
	}
	for probes := 0; lo < hi; probes++ {
		probe := int(uint(lo+hi) / 2)
		if probes < evenProbes {
			probe = lo + s.position(rowid, hi-lo)
		}
		key, valid := n.rowid(probe)
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

// position returns where, among n > 0 keys evenly spread over s, rowid stands: 0 to n-1. Where s says nothing, because rowid
// is outside or it is too wide to multiply with, that is the middle.
func (s span) position(rowid int64, n int) int {
	width := uint64(s.high) - uint64(s.low)
	if rowid <= s.low || rowid > s.high || width >= 1<<47 {
		return n / 2
	}
	return int((uint64(rowid) - uint64(s.low) - 1) * uint64(n) / width)
}

// narrow returns the span of the i-th child of an interior table page that has the span s itself.
func (n *node) narrow(s span, i int) span {
	if i > 0 {
		if k, ok := n.rowid(i - 1); ok {
			s.low = k
		}
	}
	if i < n.cells {
		if k, ok := n.rowid(i); ok {
			s.high = k
		}
	}
	return s
}

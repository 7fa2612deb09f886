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
	v, m := format.Varint(n.data[off:])
	return int64(v), m > 0
}

// searchRowid returns the first cell of a table page whose key is rowid or more, cells if there is none, and whether
// it is rowid itself.
//
// Rowids are mostly dense: the first probe goes where the key would stand if those between low, exclusive, and
// high, inclusive, were evenly spread. That saves most of the cache misses of a binary search, which goes on from there.
func (n *node) searchRowid(rowid, low, high int64) (i int, found, ok bool) {
	lo, hi := 0, n.cells
	probe := hi / 2
	if span := uint64(high) - uint64(low); span != 0 && rowid > low && rowid <= high && span < 1<<32 {
		probe = int((uint64(rowid) - uint64(low) - 1) * uint64(hi) / span)
	}
	for lo < hi {
		key, valid := n.rowid(probe)
		switch {
		case !valid:
			return 0, false, false
		case key == rowid:
			return probe, true, true
		case key < rowid:
			lo = probe + 1
		default:
			hi = probe
		}
		probe = int(uint(lo+hi) / 2)
	}
	return lo, false, true
}

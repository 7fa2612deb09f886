package btree

import (
	"github.com/foliofs/folio/internal/format"
)

// A cell is the bytes of one cell, the child included, without the padding.
type cell []byte

// rowid returns the key of a cell of a table leaf, which is complete.
func (c cell) rowid() int64 {
	_, m := format.Varint(c)
	v, _ := format.Varint(c[m:])
	return int64(v)
}

// room returns how many bytes a cell takes in a page, its offset included.
func (c cell) room() int { return 2 + max(len(c), MinCell) }

// put writes c to dst, the room that insert made for it.
func (c cell) put(dst []byte) { clear(dst[copy(dst, c):]) }

// A filler writes all cells of a page again, in the order of their keys. They come from other
// memory.
type filler struct {
	Node
	pos int // of the cell added last
}

// fill begins to make a page one of a kind.
func fill(data []byte, pgno uint32, kind format.PageKind) filler {
	return filler{Node: Node{Data: data, Pgno: pgno, Kind: kind, array: format.PageHeaderAt(pgno) + kind.HeaderLen()}, pos: len(data)}
}

// add adds a cell. It is not ok if the page is full.
func (f *filler) add(c []byte) (ok bool) {
	size := max(len(c), MinCell)
	pos, at := f.pos-size, f.gap()
	if pos < at+2 {
		return false
	}
	if n := copy(f.Data[pos:pos+size], c); n < size {
		clear(f.Data[pos+n : pos+size])
	}
	putBE16(f.Data[at:], pos)
	f.pos = pos
	f.Cells++
	return true
}

// end writes the header and returns the page.
func (f *filler) end(right uint32) Node {
	h := format.PageHeader{Kind: f.Kind, Cells: f.Cells, ContentStart: f.pos, RightChild: right}
	h.Put(f.Data, f.header())
	return f.Node
}

// InitNode makes data, the usable bytes of page pgno, an empty page of a kind.
func InitNode(data []byte, pgno uint32, kind format.PageKind, right uint32) Node {
	f := fill(data, pgno, kind)
	return f.end(right)
}

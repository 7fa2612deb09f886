package btree

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// An entry is written into a cell.
type entry struct {
	rowid int64
	parts [][]byte // the payload
	size  int      // of the payload
}

func NewEntry(rowid int64, parts [][]byte) entry {
	e := entry{rowid: rowid, parts: parts}
	for _, p := range parts {
		e.size += len(p)
	}
	return e
}

// Shape returns how many bytes of the payload are in the page, and how many the cell takes without
// its child.
func (t *Tree) Shape(e *entry) (local, body int) {
	local = t.spill.Local(uint64(e.size))
	body = format.VarintLen(uint64(e.size)) + local
	if t.isTable {
		body += format.VarintLen(uint64(e.rowid))
	}
	if local < e.size {
		body += 4
	}
	return local, body
}

// Write writes the cell of e, without its child, to dst, with the room that shape said, or
// more.
func (t *Tree) Write(dst []byte, e *entry, local int, overflow uint32) {
	p := format.PutVarint(dst, uint64(e.size))
	if t.isTable {
		p += format.PutVarint(dst[p:], uint64(e.rowid))
	}
	left := local
	for _, part := range e.parts {
		n := copy(dst[p:p+left], part)
		p, left = p+n, left-n
	}
	if overflow != 0 {
		binary.BigEndian.PutUint32(dst[p:], overflow)
		p += 4
	}
	clear(dst[p:]) // the padding up to minCell
}

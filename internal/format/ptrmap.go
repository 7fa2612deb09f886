package format

import "encoding/binary"

// PointerType says how a page of an auto-vacuum database is used by the page that points to it.
type PointerType uint8

// The pointer types.
const (
	PointerRoot     PointerType = 1 // root of a b-tree; its parent is 0
	PointerFree     PointerType = 2 // on the freelist; its parent is 0
	PointerOverflow PointerType = 3 // first overflow page; its parent is the b-tree page with the cell
	PointerChain    PointerType = 4 // later overflow page; its parent is the overflow page before it
	PointerChild    PointerType = 5 // b-tree page other than a root; its parent is the b-tree page above it
)

// Valid reports whether t is one of the five types.
func (t PointerType) Valid() bool { return t >= PointerRoot && t <= PointerChild }

// A Pointer is one entry of a pointer-map page. A database with auto-vacuum has such an entry for
// each of its pages except page 1, the lock page and the pointer-map pages themselves.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     1  type
//	     1     4  parent page, or 0
//
// Page 2 is the first pointer-map page. Each holds the entries of the pages that follow it, as many
// as fit in its usable size, and the next pointer-map page comes after the last of those. If one
// would fall on the lock page it is the page after that instead.
type Pointer struct {
	Type   PointerType
	Parent uint32
}

// PointerSize is the size of an entry, in bytes.
const PointerSize = 5

// PtrmapPage returns the pointer-map page with the entry of page pgno, or 0 for pages 0 and 1. For
// a pointer-map page it returns the page itself.
func PtrmapPage(pgno uint32, pageSize, usable int) uint32 {
	if pgno < 2 {
		return 0
	}
	group := uint32(usable/PointerSize) + 1
	ptrmap := (pgno-2)/group*group + 2
	if ptrmap == LockPage(pageSize) {
		ptrmap++
	}
	return ptrmap
}

// IsPtrmapPage reports whether page pgno of an auto-vacuum database is a pointer-map page.
func IsPtrmapPage(pgno uint32, pageSize, usable int) bool {
	return pgno >= 2 && PtrmapPage(pgno, pageSize, usable) == pgno
}

// PtrmapOffset returns the offset of the entry of page pgno in its pointer-map page. It is not ok
// for a page that has no entry.
func PtrmapOffset(pgno uint32, pageSize, usable int) (off int, ok bool) {
	ptrmap := PtrmapPage(pgno, pageSize, usable)
	if ptrmap == 0 || pgno <= ptrmap || pgno == LockPage(pageSize) {
		return 0, false
	}
	return PointerSize * int(pgno-ptrmap-1), true
}

// ParsePointer decodes the entry at the start of b. It is not ok if the type is none of the five or
// b is too short.
func ParsePointer(b []byte) (p Pointer, ok bool) {
	if len(b) < PointerSize {
		return p, false
	}
	p = Pointer{Type: PointerType(b[0]), Parent: binary.BigEndian.Uint32(b[1:])}
	return p, p.Type.Valid()
}

// Put writes p to the start of b.
func (p Pointer) Put(b []byte) {
	b[0] = byte(p.Type)
	binary.BigEndian.PutUint32(b[1:], p.Parent)
}

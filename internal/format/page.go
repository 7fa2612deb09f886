package format

import "encoding/binary"

// PageKind is the first byte of a b-tree page.
type PageKind uint8

// The four kinds of b-tree page.
const (
	InteriorIndex PageKind = 0x02
	InteriorTable PageKind = 0x05
	LeafIndex     PageKind = 0x0a
	LeafTable     PageKind = 0x0d
)

// Valid reports whether k is one of the four kinds.
func (k PageKind) Valid() bool {
	return k == LeafTable || k == LeafIndex || k == InteriorTable || k == InteriorIndex
}

// Leaf reports whether pages of kind k have no children.
func (k PageKind) Leaf() bool { return k&0x08 != 0 }

// Table reports whether pages of kind k belong to a b-tree keyed by rowid.
func (k PageKind) Table() bool { return k&0x05 == 0x05 }

// HeaderLen returns the size of a page's header: 8 bytes in a leaf, 12 in an interior page.
func (k PageKind) HeaderLen() int {
	if k.Leaf() {
		return 8
	}
	return 12
}

// A PageHeader is the start of a b-tree page (on page 1, after the database header).
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     1  kind
//	     1     2  first freeblock, or 0
//	     3     2  number of cells
//	     5     2  start of the cell content area; 0 stands for 65536
//	     7     1  fragmented free bytes in the content area
//	     8     4  right-most child; interior pages only
//
// An array of two-byte cell offsets follows, in key order.
type PageHeader struct {
	Kind           PageKind
	FirstFreeblock int
	Cells          int
	ContentStart   int
	Fragmented     int
	RightChild     uint32
}

// PageHeaderAt returns the offset of the b-tree header in page pgno: 100 on page 1, else 0.
func PageHeaderAt(pgno uint32) int {
	if pgno == 1 {
		return HeaderSize
	}
	return 0
}

// ParsePageHeader decodes the page header at offset at of page. It is not ok if the kind is none of
// the four or the page is too short; whether the cells fit is for the caller to see.
func ParsePageHeader(page []byte, at int) (h PageHeader, ok bool) {
	if len(page) < at+12 {
		return h, false
	}
	b := page[at : at+12]
	h = PageHeader{
		Kind:           PageKind(b[0]),
		FirstFreeblock: int(binary.BigEndian.Uint16(b[1:])),
		Cells:          int(binary.BigEndian.Uint16(b[3:])),
		ContentStart:   int(binary.BigEndian.Uint16(b[5:])),
		Fragmented:     int(b[7]),
	}
	if h.ContentStart == 0 {
		h.ContentStart = MaxPageSize
	}
	if !h.Kind.Valid() {
		return h, false
	}
	if !h.Kind.Leaf() {
		h.RightChild = binary.BigEndian.Uint32(b[8:])
	}
	return h, true
}

// Put writes h at offset at of page.
func (h *PageHeader) Put(page []byte, at int) {
	b := page[at:]
	b[0] = byte(h.Kind)
	binary.BigEndian.PutUint16(b[1:], uint16(h.FirstFreeblock))
	binary.BigEndian.PutUint16(b[3:], uint16(h.Cells))
	binary.BigEndian.PutUint16(b[5:], uint16(h.ContentStart)) // 65536 becomes 0
	b[7] = byte(h.Fragmented)
	if !h.Kind.Leaf() {
		binary.BigEndian.PutUint32(b[8:], h.RightChild)
	}
}

// MaxCells returns the largest number of cells that a page of the given size can hold, as SQLite
// counts it.
func MaxCells(pageSize int) int { return (pageSize - 8) / 6 }

package format

import "encoding/binary"

// A Trunk is one page in the chain that holds a database's free pages. A free page is either a
// trunk or a leaf; the content of a leaf means nothing.
//
//	OFFSET  SIZE  DESCRIPTION
//	     0     4  next trunk page, or 0
//	     4     4  number of leaves, N: at most a quarter of the usable size, less 2
//	     8   4*N  page numbers of the leaves, in no order
//
// SQLite leaves the last six places empty, because versions before 3.6.0 called a trunk that used
// them corrupt.
type Trunk struct {
	Next   uint32 // next trunk page, or 0
	leaves []byte // points into the page
}

// TrunkLimit returns the largest number of leaves that a trunk may name.
func TrunkLimit(usable int) int { return usable/4 - 2 }

// TrunkFill returns the largest number of leaves that a writer puts in a trunk.
func TrunkFill(usable int) int { return usable/4 - 8 }

// ParseTrunk decodes a trunk page whose usable bytes are page. It is not ok if the trunk counts
// more leaves than it has room for.
func ParseTrunk(page []byte) (t Trunk, ok bool) {
	if len(page) < 8 {
		return t, false
	}
	n := binary.BigEndian.Uint32(page[4:])
	if int64(n) > int64(TrunkLimit(len(page))) {
		return t, false
	}
	end := 8 + 4*int(n)
	return Trunk{Next: binary.BigEndian.Uint32(page), leaves: page[8:end:end]}, true
}

// Len returns the number of leaves.
func (t Trunk) Len() int { return len(t.leaves) / 4 }

// Leaf returns the page number of leaf i, which must be in [0, Len).
func (t Trunk) Leaf(i int) uint32 { return binary.BigEndian.Uint32(t.leaves[4*i:]) }

// PutTrunk writes a trunk to the start of page, which must have room for it, and leaves the rest as
// it is.
func PutTrunk(page []byte, next uint32, leaves []uint32) {
	binary.BigEndian.PutUint32(page, next)
	binary.BigEndian.PutUint32(page[4:], uint32(len(leaves)))
	for i, pgno := range leaves {
		binary.BigEndian.PutUint32(page[8+4*i:], pgno)
	}
}

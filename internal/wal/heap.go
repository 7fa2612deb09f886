package wal

import (
	"slices"
	"sync/atomic"

	"github.com/foliofs/folio/internal/format"
)

// heapBlocks are the blocks of a wal-index that no other connection shares: SQLite's
// WAL_HEAPMEMORY_MODE. The invariants of an Index hold, except X5: a block is there or not.
type heapBlocks struct {
	list atomic.Pointer[[][]uint32] // replaced as a whole
}

// NewHeapIndex returns a wal-index without a file, for the holder of EXCLUSIVE.
func NewHeapIndex() *Index {
	x := &Index{heap: new(heapBlocks)}
	x.Head = x.heap.extend(0)
	return x
}

// block returns a block, or nil if there is none.
func (h *heapBlocks) block(i int) []uint32 {
	if list := *h.list.Load(); i < len(list) {
		return list[i]
	}
	return nil
}

// extend makes the blocks up to i that are not there. The caller must hold WRITE.
func (h *heapBlocks) extend(i int) []uint32 {
	var list [][]uint32
	if old := h.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	for len(list) <= i {
		list = append(list, make([]uint32, format.WALIndexBlockWords))
	}
	h.list.Store(&list)
	return list[i]
}

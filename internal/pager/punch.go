package pager

import (
	"github.com/foliofs/folio/internal/btree"
)

// punchFree gives a tight disk the blocks of the free pages of the database. Their content means
// nothing: readers never look at the leaves of the freelist. The next commit that uses such a page
// must find room for it (ensureRoom).
//
// The caller must see to it that the file alone has everything, and that every reader reads the
// newest state: in an older one the pages may be in use.
func (k *RoomKeeper) punchFree() {
	d, ok := k.pager.file.(disk)
	if !ok || k.pager.options.ReadOnly {
		return
	}
	if _, spare := k.spare(d, 0); spare {
		return
	}
	free, pageSize := k.freeLeaves()
	for len(free) > 0 {
		n := 1
		for n < len(free) && free[n] == free[0]+uint32(n) {
			n++
		}
		if d.Punch(int64(free[0]-1)*pageSize, int64(n)*pageSize) != nil {
			return
		}
		free = free[n:]
	}
}

// freeLeaves returns the leaves of the freelist in the file.
func (k *RoomKeeper) freeLeaves() (free []uint32, pageSize int64) {
	size, err := k.pager.file.Size()
	if err != nil {
		return nil, 0
	}
	return btree.FreeLeaves(k.pager.file, size)
}

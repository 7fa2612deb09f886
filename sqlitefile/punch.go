package sqlitefile

import (
	"encoding/binary"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// punchFree gives a tight disk the blocks of the free pages of the database. What these hold means nothing: readers never look at the leaves of
// the freelist. The next commit that uses such a page has to find room for it (ensureRoom).
//
// The caller sees to it that the file alone has everything, and that every reader reads the newest state: in an older one the pages may be in use.
func (db *DB) punchFree() {
	d, ok := db.file.(disk)
	if !ok || db.options.ReadOnly {
		return
	}
	if _, spare := db.room.spare(d, 0); spare {
		return
	}
	free, pageSize := db.freeLeaves()
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

// mostTrunks is how many trunks of a freelist are looked at. A longer one has room enough for a log, and would take long.
const mostTrunks = 256

// freeLeaves returns the pages in the file that are leaves of its freelist, in order. There are none if the freelist is not in order.
func (db *DB) freeLeaves() (free []uint32, pageSize int64) {
	var b [format.HeaderSize]byte
	if _, err := db.file.ReadAt(b[:], 0); err != nil {
		return nil, 0
	}
	h, what := format.ParseHeader(b[:])
	size, err := db.file.Size()
	if what != "" || err != nil || int64(h.PageCount)*int64(h.PageSize) > size {
		return nil, 0
	}
	used := []uint32{1} // and what else is not to be punched
	page := make([]byte, h.PageSize)
	count := binary.BigEndian.Uint32(b[headFree:])
	for trunk := binary.BigEndian.Uint32(b[headTrunk:]); trunk != 0; trunk = binary.BigEndian.Uint32(page) {
		if trunk > h.PageCount || len(used)+len(free) > int(count) || len(used) > mostTrunks {
			return nil, 0
		}
		if _, err := db.file.ReadAt(page, int64(trunk-1)*int64(h.PageSize)); err != nil {
			return nil, 0
		}
		used = append(used, trunk)
		n := int64(binary.BigEndian.Uint32(page[4:]))
		if n > int64(h.Usable()/4-2) {
			return nil, 0
		}
		for i := range n {
			free = append(free, binary.BigEndian.Uint32(page[8+4*i:]))
		}
	}
	if !plausibleFree(used, free, count, h.PageCount) {
		return nil, 0
	}
	return free, int64(h.PageSize)
}

// plausibleFree sorts the leaves of a freelist, and reports whether they are as many as the header says with the trunks, each once, and within the
// database.
func plausibleFree(used, free []uint32, count, pages uint32) bool {
	slices.Sort(free)
	all := slices.Concat(used, free)
	slices.Sort(all)
	return len(all) == int(count)+1 && len(slices.Compact(all)) == int(count)+1 && all[len(all)-1] <= pages && all[0] > 0
}

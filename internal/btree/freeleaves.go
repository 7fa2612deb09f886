package btree

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// mostTrunks is how many trunks of a freelist are looked at. A longer one has room enough for a
// log, and would take long.
const mostTrunks = 256

// FreeLeaves returns the pages of a database file of size bytes that are leaves of its freelist, in
// order of their numbers, and the size of a page. There are none if the freelist is damaged.
func FreeLeaves(file io.ReaderAt, size int64) (free []uint32, pageSize int64) {
	var b [format.HeaderSize]byte
	if _, err := file.ReadAt(b[:], 0); err != nil {
		return nil, 0
	}
	h, what := format.ParseHeader(b[:])
	if what != "" || int64(h.PageCount)*int64(h.PageSize) > size {
		return nil, 0
	}
	used := []uint32{1} // the pages that are no leaves
	page := make([]byte, h.PageSize)
	count := binary.BigEndian.Uint32(b[FreeCountOffset:])
	for trunk := binary.BigEndian.Uint32(b[TrunkOffset:]); trunk != 0; trunk = binary.BigEndian.Uint32(page) {
		if trunk > h.PageCount || len(used)+len(free) > int(count) || len(used) > mostTrunks {
			return nil, 0
		}
		if _, err := file.ReadAt(page, int64(trunk-1)*int64(h.PageSize)); err != nil {
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

// plausibleFree sorts the leaves of a freelist, and reports whether they are as many as the header
// says with the trunks, each once, and within the database.
func plausibleFree(used, free []uint32, count, pages uint32) bool {
	slices.Sort(free)
	all := slices.Concat(used, free)
	slices.Sort(all)
	return len(all) == int(count)+1 && len(slices.Compact(all)) == int(count)+1 && all[len(all)-1] <= pages && all[0] > 0
}

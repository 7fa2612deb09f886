package sqlitefile

import (
	"maps"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// A pointerMap is the pointer map of a file that is being made. It is in memory until all pointers are known: 5 bytes for each page.
type pointerMap struct {
	rx    *Rx // the original
	pages map[uint32][]byte
}

// usual returns the first page from pgno on that is neither a page of the map nor the lock page.
func (m *pointerMap) usual(pgno uint32) uint32 {
	for pgno == m.rx.lockPage || format.IsPtrmapPage(pgno, m.rx.header.PageSize, m.rx.usable) {
		pgno++
	}
	return pgno
}

// linked implements linker.
func (m *pointerMap) linked(child, parent uint32, kind format.PointerType) error {
	size := m.rx.header.PageSize
	off, ok := format.PtrmapOffset(child, size, m.rx.usable)
	if !ok {
		return m.corrupt(child, "a page that cannot be in a b-tree is in one")
	}
	pgno := format.PtrmapPage(child, size, m.rx.usable)
	if m.pages[pgno] == nil {
		m.pages[pgno] = make([]byte, size)
	}
	format.Pointer{Type: kind, Parent: parent}.Put(m.pages[pgno][off:])
	return nil
}

func (m *pointerMap) corrupt(pgno uint32, what string) error { return m.rx.corrupt(pgno, what) }

// write writes the pages of the map, in order.
func (m *pointerMap) write(page func(pgno uint32, data []byte) error) error {
	for _, pgno := range slices.Sorted(maps.Keys(m.pages)) {
		if err := page(pgno, m.pages[pgno]); err != nil {
			return err
		}
	}
	return nil
}

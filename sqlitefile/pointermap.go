package sqlitefile

import (
	"maps"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// A pointerMap is the pointer map of a file that is being made. It is in memory until all pointers
// are known: 5 bytes for each page.
type pointerMap struct {
	rx    *Rx // the original
	pages map[uint32][]byte
}

// usual returns the first page from pgno on that is neither a page of the map nor the lock page.
func (m *pointerMap) usual(pgno uint32) uint32 {
	for pgno == m.rx.pager.LockPage || format.IsPtrmapPage(pgno, m.rx.pager.Header.PageSize, m.rx.pager.Usable) {
		pgno++
	}
	return pgno
}

// Linked implements linker.
func (m *pointerMap) Linked(child, parent uint32, kind format.PointerType) error {
	size := m.rx.pager.Header.PageSize
	off, ok := format.PtrmapOffset(child, size, m.rx.pager.Usable)
	if !ok {
		return m.Corrupt(child, "a page that cannot be in a b-tree is in one")
	}
	pgno := format.PtrmapPage(child, size, m.rx.pager.Usable)
	if m.pages[pgno] == nil {
		m.pages[pgno] = make([]byte, size)
	}
	format.Pointer{Type: kind, Parent: parent}.Put(m.pages[pgno][off:])
	return nil
}

func (m *pointerMap) Corrupt(pgno uint32, what string) error { return m.rx.pager.Corrupt(pgno, what) }

// write writes the pages of the map, in order.
func (m *pointerMap) write(page func(pgno uint32, data []byte) error) error {
	for _, pgno := range slices.Sorted(maps.Keys(m.pages)) {
		if err := page(pgno, m.pages[pgno]); err != nil {
			return err
		}
	}
	return nil
}

package sqlitefile

import (
	"context"
	"maps"
	"slices"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/search"
)

// CompactOptions say how Compact works. The zero value, and nil, are good defaults.
type CompactOptions struct {
	// Progress, if it is not nil, is called from time to time with the bytes that were copied, and
	// with about how many there are to copy.
	Progress func(done, total int64)
}

// Compact makes the database as small as it can be: a copy without free pages, all other pages full
// and in order, takes the place of the file. Everything is kept but the numbers of the pages: page
// size, encoding, journal mode, auto-vacuum, and whatever the schema has, be it beyond this
// package.
//
// No other connection may hold the database open: while one has, Compact fails with ErrBusy after
// BusyTimeout, and changes nothing. Write transactions of this DB wait until it ends, read
// transactions only while the files are exchanged. After a crash there is the old file or the new
// one, and perhaps a useless one whose name ends in "-compact". The next Compact overwrites that if
// it was not complete. It leaves any other file of that name alone, and takes the name
// "-compact-2", or one of the seven that follow.
//
// Only most file systems on Linux tell which processes have a file open. Elsewhere Compact cannot
// see a connection of SQLite without locks: one in rollback mode between two transactions, or one
// that has not read yet. Locks on the old file keep that connection from reading and writing for as
// long as this DB is open. It must be opened again.
func (db *DB) Compact(ctx context.Context, o *CompactOptions) error {
	var progress func(done, total int64)
	if o != nil {
		progress = o.Progress
	}
	return db.pager.Replace(ctx, func(base *pager.Rx, file osfile.Handle) error {
		rx := Rx{pager: search.Rx{Rx: *base}, db: db}
		return rx.compact(ctx, file, progress)
	})
}

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

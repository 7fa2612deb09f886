package pager

import (
	"errors"
	"io"
	"sync"

	"github.com/foliofs/folio/internal/chain"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/pageset"
)

// Page returns the usable bytes of page pgno: a slice of the map, valid until the transaction ends,
// or of a buffer where the database is read without a map. Numbers outside the database are
// corruption: only a page can name them.
func (rx *Rx) Page(pgno uint32) ([]byte, error) {
	off := (uint64(pgno) - 1) << rx.PageShift // page 0 ends up beyond every map
	if off < uint64(len(rx.Mapped)) {
		return rx.Mapped[off : off+uint64(rx.Usable) : off+1<<rx.PageShift], nil
	}
	return rx.unmappedPage(pgno)
}

// unmappedPage returns a page that rx.mapped does not show: a page that the transaction changed, or
// that is in the log, or any page in plain mode, or the last one of a file that ends in the middle
// of it.
func (rx *Rx) unmappedPage(pgno uint32) ([]byte, error) {
	if rx.Snapshot == ended {
		return nil, rx.pager.PathError("read", dberr.ErrClosed)
	}
	if pgno == 0 || pgno > rx.PageCount {
		return nil, rx.Corrupt(pgno, "no such page in the database")
	}
	if rx.changed != nil {
		if data := rx.changed.find(pgno); data != nil {
			return data[:rx.Usable], nil
		}
	}
	if rx.last != 0 {
		if data, err := rx.loggedPage(pgno); data != nil || err != nil {
			return data, err
		}
	}
	if end := uint64(pgno) << rx.PageShift; end <= uint64(len(rx.file)) {
		start := end - 1<<rx.PageShift
		return rx.file[start : start+uint64(rx.Usable) : end], nil
	}
	data := rx.Cache.get(pgno)
	if data == nil {
		var err error
		if data, err = rx.readPage(pgno); err != nil {
			return nil, err
		}
		rx.Cache.put(pgno, data)
	}
	return data[:rx.Usable], nil
}

// readPage reads a page from the file. A last page that is cut off ends in zeros, as SQLite reads
// it.
func (rx *Rx) readPage(pgno uint32) ([]byte, error) {
	data := make([]byte, rx.Header.PageSize)
	off := int64(pgno-1) << rx.PageShift
	n, err := rx.pager.file.ReadAt(data, off)
	if rx.wal != nil {
		err = rx.wal.Observer.UnlessChanged(err)
	}
	switch {
	case err == nil, errors.Is(err, io.EOF) && off < rx.size && rx.size <= off+int64(n):
		return data, nil
	case errors.Is(err, io.EOF):
		return nil, rx.Corrupt(pgno, "the file ends before this page does")
	}
	return nil, rx.pager.PathError("read", err)
}

// loggedPage returns a page as the log has it, or nil if it does not.
func (rx *Rx) loggedPage(pgno uint32) ([]byte, error) {
	frame, err := rx.frameOf(pgno)
	if frame == 0 || err != nil {
		return nil, err
	}
	data, err := rx.wal.Page(frame)
	if err != nil {
		return nil, err
	}
	return data[:rx.Usable], nil
}

// frameOf returns the frame that holds a page, or 0.
func (rx *Rx) frameOf(pgno uint32) (uint32, error) {
	if rx.frames == nil {
		return rx.wal.Index.Find(pgno, rx.last)
	}
	return rx.frames.Find(rx.wal.Index, pgno, rx.last)
}

// A pageCache keeps facts about one snapshot: runs, extents, and the pages that were read without a
// map. It holds at most two generations of cacheGeneration bytes each: when the young one is full
// it becomes the old one, and the pages that the old one still held are left to the garbage
// collector, so that a page stays valid while a caller holds it. Safe for concurrent use.
type pageCache struct {
	Runs       chain.Runs
	Extents    chain.Extents
	mu         sync.Mutex // guards the maps
	young, old map[uint32][]byte
}

const cacheGeneration = 4 << 20 // bytes

func (c *pageCache) get(pgno uint32) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data := c.young[pgno]; data != nil {
		return data
	}
	data := c.old[pgno]
	if data != nil {
		c.add(pgno, data)
	}
	return data
}

func (c *pageCache) put(pgno uint32, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(pgno, data)
}

func (c *pageCache) add(pgno uint32, data []byte) {
	if len(c.young)*len(data) >= cacheGeneration {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = make(map[uint32][]byte)
	}
	c.young[pgno] = data
}

// recentPages is the cache of the pages that this writer committed last. The next transaction finds
// them here and need not read the log or the file. It also keeps the memory of pages that no
// transaction can see any more, for new pages.
//
// It belongs to the holder of the write lock. Its pages are right as long as no other connection
// writes: prepare clears it when one has. A spill writes past it, and drops the pages that it
// wrote.
type recentPages struct {
	pages  pageset.Table[dirtyPage]
	spare  *dirtyPage // with its next ones, all of one size
	spares int
}

// RecentBytes is how much memory committed pages may take, and as much again pages that
// are free.
const RecentBytes = 4 << 20

// put keeps p as the committed content of a page. If idle, no transaction runs that could still
// look at the content before.
func (s *recentPages) put(pgno uint32, p *dirtyPage, idle bool) {
	if s.pages.Count*len(p.data) >= RecentBytes {
		s.empty(idle)
	}
	if old := s.pages.Get(pgno); old != nil && idle {
		s.reuse(old)
	}
	*p = dirtyPage{data: p.data}
	s.pages.Put(pgno, p)
}

// empty forgets all pages. If idle, their memory is used again.
func (s *recentPages) empty(idle bool) {
	if idle {
		for _, p := range s.pages.All() {
			s.reuse(p)
		}
	}
	s.pages.Clear()
}

// reuse takes the memory of a page that no transaction looks at any more.
func (s *recentPages) reuse(p *dirtyPage) {
	if s.spares*len(p.data) < RecentBytes {
		s.keep(p)
	}
}

// keep does so without a limit, as a large transaction soon takes it again.
func (s *recentPages) keep(p *dirtyPage) {
	if invariant.Enabled {
		spoil(p.data) // so that a use by mistake is found
	}
	*p = dirtyPage{data: p.data, next: s.spare}
	s.spare = p
	s.spares++
}

// trim gives back the memory that a large transaction needed.
func (s *recentPages) trim() {
	for s.spares > 0 && s.spares*len(s.spare.data) > RecentBytes {
		s.spare = s.spare.next
		s.spares--
	}
}

// page returns memory for a page of n bytes. Its content is undefined.
func (s *recentPages) page(n int) *dirtyPage {
	p := s.spare
	if p == nil || len(p.data) != n { // VACUUM may have changed their size
		s.spare, s.spares = nil, 0
		return &dirtyPage{data: make([]byte, n)}
	}
	s.spare = p.next
	s.spares--
	p.next = nil
	return p
}

// spoil overwrites a page with bytes that are no page.
func spoil(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

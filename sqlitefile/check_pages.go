package sqlitefile

import (
	"math/bits"

	"github.com/foliofs/folio/internal/format"
)

// A pageSet is a set of page numbers, one bit each, in chunks that are made when they are first needed: a
// file may claim four thousand million pages, all of them a hole.
type pageSet struct {
	chunks []*pageChunk // nil for one without a page
	limit  uint64       // highest page number
	count  uint32
}

// A pageChunk holds the bits of chunkPages pages.
type pageChunk [chunkPages / 64]uint64

const chunkPages = 1 << 15

func newPageSet(pages uint32) pageSet {
	return pageSet{chunks: make([]*pageChunk, pages/chunkPages+1), limit: uint64(pages)}
}

// add adds page pgno, which must be in the database, and reports whether it was missing.
func (s *pageSet) add(pgno uint32) bool {
	chunk := s.chunks[pgno/chunkPages]
	if chunk == nil {
		chunk = new(pageChunk)
		s.chunks[pgno/chunkPages] = chunk
	}
	word, bit := &chunk[pgno%chunkPages/64], uint64(1)<<(pgno%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	s.count++
	return true
}

// gap returns the first run of pages at or after from that are not in the set, if there is one.
func (s *pageSet) gap(from uint64) (first, last uint32, ok bool) {
	start := s.find(from, false)
	if start > s.limit {
		return 0, 0, false
	}
	return uint32(start), uint32(min(s.find(start, true)-1, s.limit)), true
}

// find returns the first page at or after from that is, or is not, in the set; some number above limit without one.
func (s *pageSet) find(from uint64, in bool) uint64 {
	for from <= s.limit {
		word := s.word(from)
		if !in {
			word = ^word
		}
		if word >>= from % 64; word != 0 {
			return from + uint64(bits.TrailingZeros64(word))
		}
		from = s.nextWord(from)
	}
	return from
}

func (s *pageSet) word(pgno uint64) uint64 {
	if chunk := s.chunks[pgno/chunkPages]; chunk != nil {
		return chunk[pgno%chunkPages/64]
	}
	return 0
}

// nextWord returns where the word after that of pgno starts, or the next chunk if there is none in this one.
func (s *pageSet) nextWord(pgno uint64) uint64 {
	if s.chunks[pgno/chunkPages] == nil {
		return pgno/chunkPages*chunkPages + chunkPages
	}
	return pgno/64*64 + 64
}

// reach counts page pgno as used by page from, as its root, child, and so on. It is not ok, and a problem, if there is no such
// page or something else uses it already (K1).
func (c *checker) reach(from, pgno uint32, as string) (ok bool, err error) {
	switch {
	case pgno == 0 || pgno > c.rx.pages:
		return false, c.problemf(from, "%s %d is not in the database, which has %d pages", as, pgno, c.rx.pages)
	case pgno == c.rx.lockPage:
		return false, c.problemf(from, "%s %d is the page of the lock bytes", as, pgno)
	case c.isPointerMap(pgno):
		return false, c.problemf(from, "%s %d is a pointer-map page", as, pgno)
	case !c.pages.add(pgno):
		return false, c.problemf(from, "%s %d is used elsewhere too", as, pgno)
	}
	if c.pages.count%256 == 0 {
		err = c.tick()
	}
	return err == nil, err
}

func (c *checker) isPointerMap(pgno uint32) bool {
	h := &c.rx.header
	return h.AutoVacuum() && format.IsPtrmapPage(pgno, h.PageSize, c.rx.usable)
}

// pointerMaps returns the number of pointer-map pages that the database must have: the first is page 2, and the
// entries of one fill the gap to the next. One that would be the page of the lock bytes is the page after it.
func (c *checker) pointerMaps() uint32 {
	if !c.rx.header.AutoVacuum() || c.rx.pages < 2 {
		return 0
	}
	group := uint32(c.rx.usable/format.PointerSize) + 1
	n := (c.rx.pages-2)/group + 1
	if c.rx.pages == c.rx.lockPage && (c.rx.pages-2)%group == 0 {
		n--
	}
	return n
}

// pointer checks the entry of page pgno in the pointer map.
func (c *checker) pointer(pgno uint32, want format.Pointer) error {
	h := &c.rx.header
	off, ok := format.PtrmapOffset(pgno, h.PageSize, c.rx.usable)
	if !h.AutoVacuum() || !ok {
		return nil
	}
	defer c.in("pointer map")()
	at := format.PtrmapPage(pgno, h.PageSize, c.rx.usable)
	data, ok, err := c.page(at)
	if !ok {
		return err
	}
	got := format.Pointer{Type: format.PointerType(data[off]), Parent: be32(data[off+1:])}
	if got != want {
		return c.problemf(at, "the entry of page %d is (%d, %d), not (%d, %d)", pgno, got.Type, got.Parent, want.Type, want.Parent)
	}
	return nil
}

// in sets the object that problems name, until the function that it returns is called.
func (c *checker) in(object string) (leave func()) {
	before := c.object
	c.object = object
	return func() { c.object = before }
}

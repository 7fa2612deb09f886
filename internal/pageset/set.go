package pageset

import "math/bits"

// A Set is a set of page numbers, one bit each, in chunks that are made when they are first
// needed: a file may claim four thousand million pages, all of them a hole. The zero value is
// empty.
type Set struct {
	chunks []*pageChunk // nil for one without a page
	limit  uint64       // highest page number, for gap
	Count  uint32
}

// A pageChunk holds the bits of chunkPages pages.
type pageChunk [chunkPages / 64]uint64

const chunkPages = 1 << 15

func New(pages uint32) Set {
	return Set{chunks: make([]*pageChunk, pages/chunkPages+1), limit: uint64(pages)}
}

// Has reports whether page pgno is in the set.
func (s *Set) Has(pgno uint32) bool {
	i := pgno / chunkPages
	return int(i) < len(s.chunks) && s.chunks[i] != nil && s.chunks[i][pgno%chunkPages/64]&(1<<(pgno%64)) != 0
}

// Add adds page pgno, and reports whether it was missing.
func (s *Set) Add(pgno uint32) bool {
	for int(pgno/chunkPages) >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
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
	s.Count++
	return true
}

// Gap returns the first run of pages at or after from that are not in the set, if there is one.
func (s *Set) Gap(from uint64) (first, last uint32, ok bool) {
	start := s.find(from, false)
	if start > s.limit {
		return 0, 0, false
	}
	return uint32(start), uint32(min(s.find(start, true)-1, s.limit)), true
}

// find returns the first page at or after from that is, or is not, in the set; some number above
// limit without one.
func (s *Set) find(from uint64, in bool) uint64 {
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

func (s *Set) word(pgno uint64) uint64 {
	if chunk := s.chunks[pgno/chunkPages]; chunk != nil {
		return chunk[pgno%chunkPages/64]
	}
	return 0
}

// nextWord returns where the word after the word of pgno starts, or the next chunk if there is none
// in this one.
func (s *Set) nextWord(pgno uint64) uint64 {
	if s.chunks[pgno/chunkPages] == nil {
		return pgno/chunkPages*chunkPages + chunkPages
	}
	return pgno/64*64 + 64
}

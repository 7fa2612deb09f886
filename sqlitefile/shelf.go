package sqlitefile

import "slices"

// A shelf keeps the pages that this writer committed last, so that the next transaction need not look for them in the log or in the file, and
// the memory of pages that nobody looks at any more.
//
// It belongs to the holder of the turn. What it holds is what is committed for as long as nobody else writes: prepare clears it then, and
// whoever writes past it, as a spill does, drops what it had.
type shelf struct {
	pages map[uint32][]byte
	spare [][]byte // of one page each
}

// shelfBytes is how much memory committed pages may take, and as much again those that nobody looks at.
const shelfBytes = 4 << 20

// put keeps what was committed of a page. If idle, no transaction runs that could still look at what the shelf had of it before.
func (s *shelf) put(pgno uint32, data []byte, idle bool) {
	if s.pages == nil || len(s.pages)*len(data) >= shelfBytes {
		s.pages = make(map[uint32][]byte)
	}
	if old := s.pages[pgno]; old != nil && idle {
		s.reuse(old)
	}
	s.pages[pgno] = data
}

// reuse takes the memory of a page that nobody looks at any more.
func (s *shelf) reuse(data []byte) {
	if len(s.spare)*len(data) < shelfBytes {
		s.spare = append(s.spare, data)
	}
}

// drop forgets a page, which is elsewhere now.
func (s *shelf) drop(pgno uint32) { delete(s.pages, pgno) }

// clear forgets all pages: somebody else wrote, or the database has become shorter.
func (s *shelf) clear() { clear(s.pages) }

// trim gives back the memory that a large transaction needed.
func (s *shelf) trim() {
	if n := len(s.spare); n > 0 && n*len(s.spare[0]) > shelfBytes {
		s.spare = slices.Clone(s.spare[:shelfBytes/len(s.spare[0])])
	}
}

// page returns memory for a page of n bytes. Its content is undefined.
func (s *shelf) page(n int) []byte {
	if last := len(s.spare) - 1; last >= 0 {
		p := s.spare[last]
		s.spare = s.spare[:last]
		return p
	}
	return make([]byte, n)
}

package sqlitefile

import "github.com/foliofs/folio/internal/invariant"

// A shelf keeps the pages that this writer committed last, so that the next transaction need not look for them in the log or in the file, and
// the memory of pages that nobody looks at any more.
//
// It belongs to the holder of the turn. What it holds is what is committed for as long as nobody else writes: prepare clears it then, and
// whoever writes past it, as a spill does, drops what it had.
type shelf struct {
	pages  pageTable
	spare  *dirtyPage // with its next ones, all of one size
	spares int
}

// shelfBytes is how much memory committed pages may take, and as much again those that nobody looks at.
const shelfBytes = 4 << 20

// put keeps p as what was committed of a page. If idle, no transaction runs that could still look at what the shelf had of it before.
func (s *shelf) put(pgno uint32, p *dirtyPage, idle bool) {
	if s.pages.count*len(p.data) >= shelfBytes {
		s.empty(idle)
	}
	if old := s.pages.get(pgno); old != nil && idle {
		s.reuse(old)
	}
	*p = dirtyPage{data: p.data}
	s.pages.put(pgno, p)
}

// empty forgets all pages. If idle, their memory is used again.
func (s *shelf) empty(idle bool) {
	if idle {
		for _, p := range s.pages.all() {
			s.reuse(p)
		}
	}
	s.pages.clear()
}

// reuse takes the memory of a page that nobody looks at any more.
func (s *shelf) reuse(p *dirtyPage) {
	if s.spares*len(p.data) < shelfBytes {
		s.keep(p)
	}
}

// keep does so without a limit, as a large transaction soon takes it again.
func (s *shelf) keep(p *dirtyPage) {
	if invariant.Enabled {
		spoil(p.data) // so that whoever looks at it all the same finds out
	}
	*p = dirtyPage{data: p.data, next: s.spare}
	s.spare = p
	s.spares++
}

// trim gives back the memory that a large transaction needed.
func (s *shelf) trim() {
	for s.spares > 0 && s.spares*len(s.spare.data) > shelfBytes {
		s.spare = s.spare.next
		s.spares--
	}
}

// page returns memory for a page of n bytes. Its content is undefined.
func (s *shelf) page(n int) *dirtyPage {
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

// spoil overwrites a page with what is no page.
func spoil(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

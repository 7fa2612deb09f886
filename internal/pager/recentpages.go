package pager

import (
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/pageset"
)

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

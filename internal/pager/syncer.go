package pager

import (
	"sync"
)

// A syncer lets callers of Sync that come together share one sync of the log. A call is served
// by a sync that began after it.
type syncer struct {
	lock chan struct{} // holds one token; its holder syncs

	mu    sync.Mutex // guards the fields below
	next  *syncBatch // which no sync has begun for; nil without callers
	crowd bool       // the batch before had several callers
}

// A syncBatch is the callers that one sync serves.
type syncBatch struct {
	callers int
	done    chan struct{} // closed when err is there
	err     error
}

func (s *syncer) init() {
	s.lock = make(chan struct{}, 1)
	s.lock <- struct{}{}
}

// join returns the batch that the next sync serves.
func (s *syncer) join() *syncBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = &syncBatch{done: make(chan struct{})}
	}
	s.next.callers++
	return s.next
}

// begin closes the batch to further callers. It is nil if all of them are served.
func (s *syncer) begin() *syncBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.next
	if b != nil {
		s.next, s.crowd = nil, b.callers > 1
	}
	return b
}

// hasCompany reports whether more callers can be expected.
func (s *syncer) hasCompany() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crowd
}

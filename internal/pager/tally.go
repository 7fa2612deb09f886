package pager

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/lease"
)

// A tally counts the work of a pager.
type tally struct {
	groups, transactions, waits atomic.Uint64
	waited                      atomic.Int64 // nanoseconds

	mu     sync.Mutex // guards leases
	leases map[*lease.Lease]bool
}

// add counts a lease in that was just made, and calls end once it has dropped its lock.
func (t *tally) add(l *lease.Lease, end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leases == nil {
		t.leases = make(map[*lease.Lease]bool)
	}
	t.leases[l] = true
	drop := l.Drop
	l.Drop = func() {
		drop()
		t.mu.Lock()
		delete(t.leases, l)
		t.mu.Unlock()
		end()
	}
}

// retire lets all leases end with their readers.
func (t *tally) retire() {
	t.mu.Lock()
	list := slices.Collect(maps.Keys(t.leases))
	t.mu.Unlock()
	for _, l := range list {
		l.Retire()
	}
}

// only reports whether l is the only lease, with one reader.
func (t *tally) only(l *lease.Lease) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.leases) == 1 && t.leases[l] && l.Readers() == 1
}

// readers returns how many transactions there are, and since when the oldest.
func (t *tally) readers() (n int, oldest time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := range maps.Keys(t.leases) {
		readers, since := l.Readers(), time.Unix(0, l.Since.Load())
		if n += readers; readers > 0 && (oldest.IsZero() || since.Before(oldest)) {
			oldest = since
		}
	}
	return n, oldest
}

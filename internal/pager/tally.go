package pager

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/lease"
	"github.com/foliofs/folio/internal/osfile"
)

// Stats tells how a database stands, and counts the work of the pager since Open. Package
// sqlitefile explains the fields.
type Stats struct {
	PageSize  int
	Pages     uint32
	FreePages uint32

	LogFrames uint32
	LogCopied uint32
	LogBytes  int64

	Checkpoints     uint64
	CheckpointWaits uint64
	Groups          uint64
	Transactions    uint64
	BusyWaits       uint64
	BusyTime        time.Duration

	Readers      int
	OldestReader time.Time
}

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

// Stats returns how the database stands. It reads nothing of the file, and can be called at any
// time.
func (p *Pager) Stats() Stats {
	t := &p.tally
	s := Stats{
		Checkpoints: p.checkpoints.count.Load(), CheckpointWaits: p.checkpoints.waits.Load(),
		Groups: t.groups.Load(), Transactions: t.transactions.Load(),
		BusyWaits: t.waits.Load(), BusyTime: time.Duration(t.waited.Load()),
	}
	s.Readers, s.OldestReader = t.readers()
	if last := p.snapshot.Load(); last != nil {
		s.PageSize, s.Pages, s.FreePages = last.Header.PageSize, last.PageCount, last.Header.FreelistCount
	}
	p.logStats(&s)
	return s
}

// logStats fills in how long the log is.
func (p *Pager) logStats(s *Stats) {
	var err error // a fault: the index is gone, and with it the log
	defer osfile.Catch(osfile.Arm(), &err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.wal == nil {
		return
	}
	if h, ok, err := p.wal.Index.Load(); ok && err == nil {
		s.LogFrames, s.LogCopied = h.MaxFrame, p.wal.Index.Backfill()
		s.LogBytes = int64(h.MaxFrame) * int64(p.wal.Frame)
	}
}

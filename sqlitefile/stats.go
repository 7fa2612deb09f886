package sqlitefile

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

// Stats tells how a database stands, and what this DB has done with it since Open.
type Stats struct {
	PageSize  int    // bytes
	Pages     uint32 // in the database, as this DB saw it last
	FreePages uint32

	LogFrames uint32 // pages in the write-ahead log
	LogCopied uint32 // how many of these are in the database as well
	LogBytes  int64  // that the frames take; the file may be longer

	Checkpoints     uint64 // that this DB made
	CheckpointWaits uint64 // commits that waited for one, as the log was long
	Groups          uint64 // of transactions that were committed at once
	Transactions    uint64 // in those groups
	BusyWaits       uint64 // how often a lock was not to be had at once
	BusyTime        time.Duration

	Readers int // transactions at work, those that write included
	// OldestReader is since when the oldest of these may have been at work; zero if there are none. Where transactions follow one another
	// without a gap and nobody writes, it is since when that has been so. One that stays for long keeps the log from beginning anew.
	OldestReader time.Time
}

// GroupSize returns how many transactions were committed at once on average; 0 before the first.
func (s *Stats) GroupSize() float64 {
	if s.Groups == 0 {
		return 0
	}
	return float64(s.Transactions) / float64(s.Groups)
}

// A tally counts what a DB does.
type tally struct {
	groups, transactions, waits atomic.Uint64
	waited                      atomic.Int64 // nanoseconds

	mu     sync.Mutex // guards leases
	leases map[*lease]bool
}

// add counts a lease in that was just made, and calls end once it has dropped its lock.
func (t *tally) add(l *lease, end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leases == nil {
		t.leases = make(map[*lease]bool)
	}
	t.leases[l] = true
	drop := l.drop
	l.drop = func() {
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
		l.retire()
	}
}

// only reports whether l is the only lease, with one reader.
func (t *tally) only(l *lease) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.leases) == 1 && t.leases[l] && l.readers() == 1
}

// readers returns how many transactions there are, and since when the oldest.
func (t *tally) readers() (n int, oldest time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := range maps.Keys(t.leases) {
		readers, since := l.readers(), time.Unix(0, l.since.Load())
		if n += readers; readers > 0 && (oldest.IsZero() || since.Before(oldest)) {
			oldest = since
		}
	}
	return n, oldest
}

// Stats returns how the database stands. It reads nothing of the file, and can be called at any time.
func (db *DB) Stats() Stats {
	t := &db.tally
	s := Stats{
		Checkpoints: db.checkpoints.count.Load(), CheckpointWaits: db.checkpoints.waits.Load(),
		Groups: t.groups.Load(), Transactions: t.transactions.Load(),
		BusyWaits: t.waits.Load(), BusyTime: time.Duration(t.waited.Load()),
	}
	s.Readers, s.OldestReader = t.readers()
	if last := db.snapshot.Load(); last != nil {
		s.PageSize, s.Pages, s.FreePages = last.header.PageSize, last.pages, last.header.FreelistCount
	}
	db.logStats(&s)
	return s
}

// logStats fills in how long the log is.
func (db *DB) logStats(s *Stats) {
	var err error // a fault: the index is gone, and with it the log
	defer osfile.Catch(osfile.Arm(), &err)
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed || db.wal == nil {
		return
	}
	if h, ok, err := db.wal.index.load(); ok && err == nil {
		s.LogFrames, s.LogCopied = h.MaxFrame, db.wal.index.backfill()
		s.LogBytes = int64(h.MaxFrame) * int64(db.wal.frame)
	}
}

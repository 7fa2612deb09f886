package pager

import (
	"time"

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
	if last := p.readers.snapshot.Load(); last != nil {
		s.PageSize, s.Pages, s.FreePages = last.Header.PageSize, last.PageCount, last.Header.FreelistCount
	}
	p.logStats(&s)
	return s
}

// logStats fills in how long the log is.
func (p *Pager) logStats(s *Stats) {
	var err error // a fault: the index is gone, and with it the log
	defer osfile.Catch(osfile.Arm(), &err)
	p.readers.mu.Lock()
	defer p.readers.mu.Unlock()
	if p.readers.closed || p.readers.wal == nil {
		return
	}
	if h, ok, err := p.readers.wal.Index.Load(); ok && err == nil {
		s.LogFrames, s.LogCopied = h.MaxFrame, p.readers.wal.Index.Backfill()
		s.LogBytes = int64(h.MaxFrame) * int64(p.readers.wal.Frame)
	}
}

package pager

import (
	"context"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/lease"
	"github.com/foliofs/folio/internal/osfile"
)

// A Probe lets a test of the package above look into a pager, and bring about states that last for
// a moment only. Programs do not use it.
type Probe struct{ pager *Pager }

// Probe returns the probe of the pager.
func (p *Pager) Probe() Probe { return Probe{p} }

// File returns the file of the database.
func (p Probe) File() osfile.Handle { return p.pager.file }

// Closed reports whether Close has begun.
func (p Probe) Closed() bool {
	p.pager.readers.mu.Lock()
	defer p.pager.readers.mu.Unlock()
	return p.pager.readers.closed
}

// Reserved reports whether the pager holds RESERVED.
func (p Probe) Reserved() bool { return p.pager.locks.reserved.Load() }

// Lost returns the reason why the file that was exchanged cannot be used.
func (p Probe) Lost() error { return p.pager.readers.lost }

// Failed returns the error that ended writing, or nil.
func (p Probe) Failed() error { return p.pager.failure() }

// Hot reports whether there is a hot journal.
func (p Probe) Hot() (bool, error) { return p.pager.recovery.hot() }

// WaitIdle waits for the leases, and for the checkpoints in the background.
func (p Probe) WaitIdle() { p.pager.readers.busy.Wait() }

// Checkpoint copies a part of the log that is open, as a commit starts it in the background.
func (p Probe) Checkpoint() (frames, copied uint32, err error) {
	return p.pager.checkpoints.checkpoint(p.pager.readers.wal)
}

// LogState returns the header of the wal-index, and the page size of the log.
func (p Probe) LogState() (h format.WALIndexHeader, pageSize int, err error) {
	h, _, err = p.pager.readers.wal.Index.Load()
	return h, p.pager.readers.wal.PageSize, err
}

// HoldCommits keeps groups from being committed until the returned function is called.
func (p Probe) HoldCommits() (release func()) {
	w := &p.pager.writer
	<-w.commitLock
	return func() { w.commitLock <- struct{}{} }
}

// Run does work in a turn of its own and returns a function that commits its group.
func (p Probe) Run(ctx context.Context, tx *Tx, work Work) (commit func() error, err error) {
	<-p.pager.writer.writeLock
	g, _, err := p.pager.commits.runOne(ctx, tx, work)
	return func() error { return p.pager.commits.lead(g) }, err
}

// Waiting returns how many transactions wait for their turn.
func (p Probe) Waiting() int { return p.pager.calls.count() }

// Held returns how many pages the transaction has in memory.
func (tx *Tx) Held() int { return tx.writer.held }

// Leases returns how many leases there are.
func (p Probe) Leases() int {
	p.pager.tally.mu.Lock()
	defer p.pager.tally.mu.Unlock()
	return len(p.pager.tally.leases)
}

// RetireLeases lets all leases end with their readers.
func (p Probe) RetireLeases() { p.pager.tally.retire() }

// RetireLease lets the lease of the last snapshot end with its readers.
func (p Probe) RetireLease() { p.pager.readers.retireLease() }

// Bury ends the goroutines that watch over the leases, as the death of the process does: the locks
// are not given back.
func (p Probe) Bury() {
	p.pager.tally.mu.Lock()
	defer p.pager.tally.mu.Unlock()
	for l := range p.pager.tally.leases {
		l.Bury()
	}
}

// HoldsShared reports whether a lease on SHARED is held.
func (p Probe) HoldsShared() bool {
	p.pager.readers.mu.Lock()
	defer p.pager.readers.mu.Unlock()
	return p.pager.readers.lease != nil
}

// Lease returns the lease of the last snapshot.
func (p Probe) Lease() *lease.Lease { return p.pager.readers.snapshot.Load().lease }

// TryView begins to read and leaves again. ErrLocked means that a reader would have to wait.
func (p Probe) TryView() error {
	s, err := p.pager.readers.tryAcquire()
	if err == nil {
		s.lease.Leave()
	}
	return err
}

// Knows reports whether the snapshot remembers where chains and long values are.
func (s *Snapshot) Knows() (chains, values bool) {
	return s.Cache.Runs.Filled(), s.Cache.Extents.Filled()
}

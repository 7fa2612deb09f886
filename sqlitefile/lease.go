package sqlitefile

import (
	"sync/atomic"
	"time"
)

// A lease is one lock on the database that any number of readers of this DB use together, so that starting and ending a
// read transaction is one atomic addition and no system call. In rollback mode it is SHARED on the file, in WAL mode one of
// the read locks of the wal-index.
//
// Invariants:
//
//	L1  Until state has the ended bit, this process holds the lock: nobody takes away what its readers see.
//	L2  The ended bit comes once, while the lease is draining or closing, has no reader and is not pinned; then the lock is
//	    dropped.
//	L3  A reader counts itself first and looks at the draining and closing bits of that same addition.
//	L4  A lease ends at most two ticks after its last reader. It takes no new reader once its lock stands in the way of a
//	    writer or a checkpoint: nobody starves.
//
//	held --[keep: stands in the way]--> draining --[end: no reader left]--> ended
//	draining --[keep: no more]--> held
//	any --[retire]--> closing --[end: no reader left]--> ended
type lease struct {
	state atomic.Uint64
	slot  int    // the read lock, in WAL mode
	whole bool   // the database alone is read
	drop  func() // gives the lock up
	ended chan struct{}
	since atomic.Int64 // no reader is from before; nanoseconds since 1970
}

// newLease returns a lease with its maker as the first reader.
func newLease(slot int, drop func()) *lease {
	l := &lease{slot: slot, drop: drop, ended: make(chan struct{})}
	l.enter()
	l.since.Store(time.Now().UnixNano())
	return l
}

// The parts of lease.state. Readers come and go by adding to it.
const (
	leaseReaders  = 1<<30 - 1 // mask of the number of readers
	leaseDraining = 1 << 30   // for as long as somebody waits
	leaseClosing  = 1 << 31   // for good
	leaseEnded    = 1 << 32
	leasePinned   = 1 << 33 // while yield asks whether somebody waits
	leaseBegun    = 1 << 34 // and above: how many readers ever began, modulo 2^30

	leaseGoing = leaseDraining | leaseClosing
)

// leaseTick is how often a lease is looked at while it is held.
const leaseTick = 2 * time.Millisecond

// enter counts the caller in as a reader, unless the lease is draining.
func (l *lease) enter() bool {
	if l.state.Add(leaseBegun+1)&leaseGoing == 0 {
		return true
	}
	if w := l.state.Add(^uint64(0)); w&leaseReaders == 0 {
		go l.end() // which takes locks that the caller may hold
	}
	return false
}

// leave counts a reader out.
func (l *lease) leave() {
	if w := l.state.Add(^uint64(0)); w&leaseGoing != 0 && w&leaseReaders == 0 {
		l.end()
	}
}

// begun returns how many readers ever began.
func (l *lease) begun() uint64 { return l.state.Load() / leaseBegun }

// readers returns how many readers there are now.
func (l *lease) readers() int { return int(l.state.Load() & leaseReaders) }

// unused reports whether the lease has no reader and will never have one again.
func (l *lease) unused() bool {
	w := l.state.Load()
	return w&leaseClosing != 0 && w&leaseReaders == 0
}

// retire lets the lease end with its last reader.
func (l *lease) retire() {
	l.state.Or(leaseClosing)
	l.end()
}

// retireUnused ends the lease if nobody reads.
func (l *lease) retireUnused() {
	w := l.state.Load()
	if w&leaseReaders == 0 && l.state.CompareAndSwap(w, w|leaseClosing) {
		l.end()
	}
}

// yield lets no new reader in while some connection waits for the lease to end. The lease does not end before waits has
// returned, as that looks at files which are open for as long as the lease. One goroutine calls yield.
func (l *lease) yield(waits func() bool) {
	if l.state.Or(leasePinned)&leaseEnded == 0 {
		if waits() {
			l.state.Or(leaseDraining)
		} else {
			l.state.And(^uint64(leaseDraining))
		}
	}
	l.state.And(^uint64(leasePinned))
	l.end()
}

// end ends a lease that lets nobody in and has no reader.
func (l *lease) end() {
	for {
		w := l.state.Load()
		if w&leaseGoing == 0 || w&(leaseEnded|leasePinned|leaseReaders) != 0 {
			return
		}
		if l.state.CompareAndSwap(w, w|leaseEnded) {
			l.drop()
			close(l.ended)
			return
		}
	}
}

// keep watches over a lease until it is over. obstructs tells whether its lock stands in anybody's way.
func (l *lease) keep(obstructs func() bool) {
	ticker := time.NewTicker(leaseTick)
	defer ticker.Stop()
	for before := l.begun(); ; {
		select {
		case at := <-ticker.C:
			if l.readers() == 0 {
				l.since.Store(at.UnixNano())
			}
		case <-l.ended:
			return
		}
		now := l.begun()
		if now == before {
			l.retireUnused()
		}
		l.yield(obstructs)
		before = now
	}
}

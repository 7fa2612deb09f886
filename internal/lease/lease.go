package lease

import (
	"sync/atomic"
	"time"
)

// A Lease is one lock on the database that any number of readers of this pager use together, so
// that starting and ending a read transaction is one atomic addition and no system call. In
// rollback mode it is SHARED on the file, in WAL mode one of the read locks of the wal-index.
//
// Invariants:
//
//	L1  Until state has the ended bit, this process holds the lock: no writer or checkpoint can
//	    change the pages of its readers.
//	L2  The ended bit comes once, while the lease is draining or closing, has no reader and is not
//	    pinned; then the lock is dropped.
//	L3  A reader counts itself first and looks at the draining and closing bits of that same
//	    addition.
//	L4  A lease ends at most two ticks after its last reader. It takes no new reader once its lock
//	    stands in the way of a writer or a checkpoint, so that these do not starve.
//
//	held --[keep: stands in the way]--> draining --[end: no reader left]--> ended
//	draining --[keep: no more]--> held
//	any --[retire]--> closing --[end: no reader left]--> ended
type Lease struct {
	state atomic.Uint64
	Slot  int    // the read lock, in WAL mode
	Whole bool   // the database alone is read
	Drop  func() // gives the lock up
	Ended chan struct{}
	Since atomic.Int64 // no reader is from before; nanoseconds since 1970
}

// New returns a lease with its maker as the first reader.
func New(slot int, drop func()) *Lease {
	l := &Lease{Slot: slot, Drop: drop, Ended: make(chan struct{})}
	l.Enter()
	l.Since.Store(time.Now().UnixNano())
	return l
}

// The parts of lease.state. Readers come and go by adding to it.
const (
	leaseReaders  = 1<<30 - 1 // mask of the number of readers
	leaseDraining = 1 << 30   // for as long as another connection waits
	leaseClosing  = 1 << 31   // for good
	leaseEnded    = 1 << 32
	leasePinned   = 1 << 33 // while yield asks whether a connection waits
	leaseBegun    = 1 << 34 // and above: how many readers ever began, modulo 2^30

	leaseGoing = leaseDraining | leaseClosing
)

// leaseTick is how often a lease is looked at while it is held (L4).
const leaseTick = 2 * time.Millisecond

// Enter counts the caller in as a reader, unless the lease is draining (L3).
func (l *Lease) Enter() bool {
	if l.state.Add(leaseBegun+1)&leaseGoing == 0 {
		return true
	}
	if w := l.state.Add(^uint64(0)); w&leaseReaders == 0 {
		go l.end() // which takes locks that the caller may hold
	}
	return false
}

// Leave counts a reader out.
func (l *Lease) Leave() {
	if w := l.state.Add(^uint64(0)); w&leaseGoing != 0 && w&leaseReaders == 0 {
		l.end()
	}
}

// begun returns how many readers ever began.
func (l *Lease) begun() uint64 { return l.state.Load() / leaseBegun }

// Readers returns how many readers there are now.
func (l *Lease) Readers() int { return int(l.state.Load() & leaseReaders) }

// Unused reports whether the lease has no reader and will never have one again.
func (l *Lease) Unused() bool {
	w := l.state.Load()
	return w&leaseClosing != 0 && w&leaseReaders == 0
}

// Retire lets the lease end with its last reader.
func (l *Lease) Retire() {
	l.state.Or(leaseClosing)
	l.end()
}

// retireUnused ends the lease if it has no reader.
func (l *Lease) retireUnused() {
	w := l.state.Load()
	if w&leaseReaders == 0 && l.state.CompareAndSwap(w, w|leaseClosing) {
		l.end()
	}
}

// yield lets no new reader in while some connection waits for the lease to end. The lease does not
// end before waits has returned, as that looks at files which are open for as long as the lease.
// One goroutine calls yield.
func (l *Lease) yield(waits func() bool) {
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

// end ends a lease that takes no reader and has none (L1, L2).
func (l *Lease) end() {
	for {
		w := l.state.Load()
		if w&leaseGoing == 0 || w&(leaseEnded|leasePinned|leaseReaders) != 0 {
			return
		}
		if l.state.CompareAndSwap(w, w|leaseEnded) {
			l.Drop()
			close(l.Ended)
			return
		}
	}
}

// Keep watches over a lease until it is over. obstructs reports whether its lock stands in the way
// of another connection.
func (l *Lease) Keep(obstructs func() bool) {
	ticker := time.NewTicker(leaseTick)
	defer ticker.Stop()
	for before := l.begun(); ; {
		select {
		case at := <-ticker.C:
			if l.Readers() == 0 {
				l.Since.Store(at.UnixNano())
			}
		case <-l.Ended:
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

// Going reports whether the lease lets no new reader in.
func (l *Lease) Going() bool { return l.state.Load()&leaseGoing != 0 }

// HasEnded reports whether the lease has ended, or is about to drop its lock.
func (l *Lease) HasEnded() bool { return l.state.Load()&leaseEnded != 0 }

// Closing reports whether the lease ends with its last reader.
func (l *Lease) Closing() bool { return l.state.Load()&leaseClosing != 0 }

// Drain lets no new reader in, as yield does; for tests.
func (l *Lease) Drain() { l.state.Or(leaseDraining) }

// BeginEnd marks the lease as ended, and returns a function that drops its lock; for tests of the
// moment in between.
func (l *Lease) BeginEnd() (complete func()) {
	l.state.Or(leaseClosing | leaseEnded)
	return func() {
		l.Drop()
		close(l.Ended)
	}
}

// Bury ends the goroutine that keeps the lease, and leaves its lock behind, as the death of the
// process does; for tests.
func (l *Lease) Bury() {
	if l.state.Or(leaseEnded)&leaseEnded == 0 {
		close(l.Ended)
	}
}

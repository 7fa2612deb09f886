package sqlitefile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

// The bytes of a database file that carry its locks (sqlite.org/lockingv3.html).
const (
	pendingByte = 0x40000000
	sharedByte  = pendingByte + 2
	sharedSize  = 510
)

// A lease is one SHARED lock on the database file that all readers of this DB use together, so that starting and
// ending a read transaction is one atomic addition and no system call.
//
// Invariants:
//
//	L1  While state has the held bit, this process holds SHARED; nobody changes the file.
//	L2  The held bit goes only while the count of readers is zero, under mu, and before the lock is dropped.
//	L3  A reader counts itself first and looks at the held bit of that same addition.
//	L4  The lease ends at most two ticks after its last reader, and takes no new reader once another process waits
//	    for it to end (holds PENDING): no writer starves.
//
//	free --[acquire]--> held --[keep: idle]--> free
//	                    held --[keep: a writer waits]--> draining --[keep: no reader left]--> free
//	                                                     draining --[keep: the writer gave up]--> held
type lease struct {
	state atomic.Uint64
	mu    sync.Mutex // guards the transitions and the lock on the file
}

// The parts of lease.state. Readers come and go by adding to it.
const (
	leaseReaders  = 1<<30 - 1 // mask of the number of readers
	leaseDraining = 1 << 30
	leaseHeld     = 1 << 31
	leaseBegun    = 1 << 32 // and above: how many readers ever began, modulo 2^32
)

// leaseTick is how often the lease is looked at while it is held.
const leaseTick = 2 * time.Millisecond

// enter counts the caller in as a reader, if the lease is held.
func (l *lease) enter() bool {
	if l.state.Add(leaseBegun+1)&(leaseHeld|leaseDraining) == leaseHeld {
		return true
	}
	l.leave()
	return false
}

// leave counts a reader out.
func (l *lease) leave() { l.state.Add(^uint64(0)) }

// readers returns how many readers there are now.
func (l *lease) readers() int { return int(l.state.Load() & leaseReaders) }

// acquire is the slow way to enter: it takes the lock, and has the database look at what changed meanwhile.
func (db *DB) acquire(ctx context.Context) error {
	deadline := time.Now().Add(db.options.BusyTimeout)
	for wait := time.Millisecond; ; wait = min(2*wait, 25*time.Millisecond) {
		err := db.tryAcquire()
		if !errors.Is(err, osfile.ErrLocked) {
			return err
		}
		if time.Now().After(deadline) {
			return db.pathError("lock", ErrBusy)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (db *DB) tryAcquire() error {
	l := &db.lease
	l.mu.Lock()
	defer l.mu.Unlock()
	if db.closed {
		return db.pathError("view", ErrClosed)
	}
	if l.enter() { // somebody else took it meanwhile
		return nil
	}
	if l.state.Load()&leaseHeld != 0 { // draining
		return osfile.ErrLocked
	}
	if err := db.lockShared(); err != nil {
		return err
	}
	if err := db.refresh(); err != nil {
		return errors.Join(err, db.unlockShared())
	}
	l.state.Add(leaseBegun + 1)
	l.state.Or(leaseHeld)
	go db.keep()
	return nil
}

// lockShared takes SHARED as SQLite does: PENDING is read-locked while the range is, so that a writer that holds PENDING
// keeps new readers out.
func (db *DB) lockShared() error {
	if err := db.file.Lock(osfile.Shared, pendingByte, 1); err != nil {
		return err
	}
	err := db.file.Lock(osfile.Shared, sharedByte, sharedSize)
	return errors.Join(err, db.file.Unlock(pendingByte, 1))
}

func (db *DB) unlockShared() error { return db.file.Unlock(sharedByte, sharedSize) }

// keep watches over a held lease, and ends with it.
func (db *DB) keep() {
	ticker := time.NewTicker(leaseTick)
	defer ticker.Stop()
	for begun := db.lease.state.Load() / leaseBegun; ; {
		<-ticker.C
		before := begun
		begun = db.lease.state.Load() / leaseBegun
		if db.settle(begun == before) {
			return
		}
	}
}

// settle ends the lease if it may end. As long as another process waits, or Close does, it lets no new reader in. It
// reports whether the lease ended.
func (db *DB) settle(idle bool) bool {
	l := &db.lease
	l.mu.Lock()
	defer l.mu.Unlock()
	draining := l.state.Load()&leaseDraining != 0
	if idle && !draining {
		return db.release()
	}
	if !db.closing && !db.writerWaits() {
		l.state.And(^uint64(leaseDraining))
		return idle && db.release()
	}
	l.state.Or(leaseDraining)
	return db.release()
}

// writerWaits reports whether some connection holds PENDING: it will write as soon as the readers are gone.
func (db *DB) writerWaits() bool {
	locked, err := db.file.Locked(osfile.Shared, pendingByte, 1)
	return err == nil && locked
}

// release drops the lock unless a reader is left. The caller holds mu.
func (db *DB) release() bool {
	l := &db.lease
	for {
		w := l.state.Load()
		if w&leaseReaders != 0 {
			return false
		}
		if l.state.CompareAndSwap(w, w&^(leaseHeld|leaseDraining)) {
			break
		}
	}
	_ = db.unlockShared() // nothing depends on it: the lock ends with the file at the latest
	return true
}

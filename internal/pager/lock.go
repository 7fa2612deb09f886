package pager

import (
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// fileLocks takes the locks of SQLite's rollback mode on the file: SHARED, RESERVED, PENDING and
// EXCLUSIVE. Where the pager is the only user of the file, its methods do nothing.
type fileLocks struct {
	pager    *Pager
	reserved atomic.Bool // RESERVED is held, or is being taken
}

// lock takes a lock of the file. holds says in words why a connection holds it.
func (l *fileLocks) lock(kind osfile.LockKind, off, n int64, holds string) error {
	return dberr.HeldBy(l.pager.file.Lock(kind, off, n), holds, l.pager.file, kind, off, n)
}

// lockShared takes SHARED as SQLite does: PENDING is read-locked while the range is, so that a
// writer that holds PENDING keeps new readers out.
func (l *fileLocks) lockShared() error {
	if l.pager.sole {
		return nil
	}
	if err := l.lock(osfile.Shared, format.PendingByte, 1, "wants to write, and waits for readers"); err != nil {
		return err
	}
	err := l.lock(osfile.Shared, format.SharedByte, format.SharedSize, "is writing")
	return dberr.Join(err, l.pager.file.Unlock(format.PendingByte, 1))
}

func (l *fileLocks) unlockShared() error {
	if l.pager.sole {
		return nil
	}
	return l.pager.file.Unlock(format.SharedByte, format.SharedSize)
}

// lockReserved announces a writer. The caller must hold SHARED.
func (l *fileLocks) lockReserved() error {
	if l.pager.sole {
		return nil
	}
	l.reserved.Store(true)
	err := l.lock(osfile.Exclusive, format.ReservedByte, 1, "is writing")
	if err != nil {
		l.reserved.Store(false)
	}
	return err
}

// lockExclusive keeps everybody else out. The caller must hold SHARED, and no reader of this
// process uses it. While other connections still read, PENDING stays, so that no new ones come,
// until lockExclusive succeeds or toShared.
func (l *fileLocks) lockExclusive() error {
	if l.pager.sole {
		return nil
	}
	return lockExclusive(l.pager.file)
}

func lockExclusive(file osfile.Handle) error {
	err := file.Lock(osfile.Exclusive, format.PendingByte, 1)
	if err != nil {
		return dberr.HeldBy(err, "wants to write, or begins to read", file, osfile.Exclusive, format.PendingByte, 1)
	}
	err = file.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize)
	return dberr.HeldBy(err, "has it open for reading", file, osfile.Exclusive, format.SharedByte, format.SharedSize)
}

// toReserved goes back from EXCLUSIVE.
func (l *fileLocks) toReserved() error {
	if l.pager.sole {
		return nil
	}
	return dberr.Join(l.pager.file.Lock(osfile.Shared, format.SharedByte, format.SharedSize), l.pager.file.Unlock(format.PendingByte, 1))
}

// toShared goes back to SHARED from whatever is held above it.
func (l *fileLocks) toShared() error {
	if l.pager.sole {
		return nil
	}
	defer l.reserved.Store(false)
	return dberr.Join(
		l.lock(osfile.Shared, format.SharedByte, format.SharedSize, "is writing"),
		l.pager.file.Unlock(format.PendingByte, 2), // PENDING and RESERVED
	)
}

// sharedByOthers reports whether another connection holds SHARED, as far as it shows. The caller
// must hold SHARED.
func (l *fileLocks) sharedByOthers() (bool, error) {
	file := l.pager.file
	if osfile.SplitsLocks || l.pager.sole {
		return file.Locked(osfile.Exclusive, format.SharedByte, format.SharedSize)
	}
	// The system must give up our SHARED for a moment to tell. PENDING keeps others from EXCLUSIVE.
	if err := file.Lock(osfile.Exclusive, format.PendingByte, 1); err != nil {
		return true, dberr.IgnoreLocked(err)
	}
	locked, err := file.Locked(osfile.Exclusive, format.SharedByte, format.SharedSize)
	return locked, dberr.Join(err, file.Unlock(format.PendingByte, 1))
}

// writerWaits reports whether some connection holds PENDING: it will write as soon as the readers
// are gone.
func (l *fileLocks) writerWaits() bool {
	if l.pager.sole {
		return false
	}
	locked, err := l.pager.file.Locked(osfile.Shared, format.PendingByte, 1)
	return err == nil && locked
}

// obstructs returns a function that tells a lease on SHARED whether it stands in the way of a
// writer, or of a connection that wants to play back a hot journal. Such a one cannot say so, for
// SQLite takes no PENDING to recover. The writer may have died while this process was reading,
// before it changed the file.
func (l *fileLocks) obstructs() func() bool {
	tick, hot := 0, false
	return func() bool {
		if tick++; hot || tick%hotTicks == 0 {
			hot = l.abandoned()
		}
		return hot || l.writerWaits()
	}
}

// hotTicks is how often a lease looks for a hot journal, in ticks.
const hotTicks = 16

// abandoned reports whether a writer died and left a hot journal. A writer of this pager is alive:
// its own lock does not show.
func (l *fileLocks) abandoned() bool {
	if l.pager.sole || l.reserved.Load() {
		return false
	}
	hot, err := l.pager.rollback.hot()
	return err == nil && hot && !l.reserved.Load()
}

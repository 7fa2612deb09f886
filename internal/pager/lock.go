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
	*core
	reserved atomic.Bool // RESERVED is held, or is being taken
}

// lock takes a lock of the file. holds says in words why a connection holds it.
func (l *fileLocks) lock(kind osfile.LockKind, off, n int64, holds string) error {
	return dberr.HeldBy(l.file.Lock(kind, off, n), holds, l.file, kind, off, n)
}

// lockShared takes SHARED as SQLite does: PENDING is read-locked while the range is, so that a
// writer that holds PENDING keeps new readers out.
func (l *fileLocks) lockShared() error {
	if l.sole {
		return nil
	}
	if err := l.lock(osfile.Shared, format.PendingByte, 1, "wants to write, and waits for readers"); err != nil {
		return err
	}
	err := l.lock(osfile.Shared, format.SharedByte, format.SharedSize, "is writing")
	return dberr.Join(err, l.file.Unlock(format.PendingByte, 1))
}

func (l *fileLocks) unlockShared() error {
	if l.sole {
		return nil
	}
	return l.file.Unlock(format.SharedByte, format.SharedSize)
}

// lockReserved announces a writer. The caller must hold SHARED.
func (l *fileLocks) lockReserved() error {
	if l.sole {
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
	if l.sole {
		return nil
	}
	return lockExclusive(l.file)
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
	if l.sole {
		return nil
	}
	return dberr.Join(l.file.Lock(osfile.Shared, format.SharedByte, format.SharedSize), l.file.Unlock(format.PendingByte, 1))
}

// toShared goes back to SHARED from whatever is held above it.
func (l *fileLocks) toShared() error {
	if l.sole {
		return nil
	}
	defer l.reserved.Store(false)
	return dberr.Join(
		l.lock(osfile.Shared, format.SharedByte, format.SharedSize, "is writing"),
		l.file.Unlock(format.PendingByte, 2), // PENDING and RESERVED
	)
}

// sharedByOthers reports whether another connection holds SHARED, as far as it shows. The caller
// must hold SHARED.
func (l *fileLocks) sharedByOthers() (bool, error) {
	file := l.file
	if osfile.SplitsLocks || l.sole {
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
	if l.sole {
		return false
	}
	locked, err := l.file.Locked(osfile.Shared, format.PendingByte, 1)
	return err == nil && locked
}

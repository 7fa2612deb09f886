package sqlitefile

import (
	"context"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// With Options.Exclusive a DB holds EXCLUSIVE from Open to Close, and RESERVED and PENDING with it: whoever comes gets no SHARED. The functions of
// lock.go have nothing to do then, and the wal-index need not be shared.

// lockOut takes EXCLUSIVE for good.
func (db *DB) lockOut(ctx context.Context) error {
	if db.options.ReadOnly {
		return db.pathError("open", ErrReadOnly)
	}
	if err := db.retry(ctx, db.tryLockOut); err != nil {
		return db.pathError("open", err)
	}
	db.sole = true
	return nil
}

// tryLockOut takes EXCLUSIVE, or nothing.
func (db *DB) tryLockOut() error {
	if err := db.lockShared(); err != nil {
		return err
	}
	err := db.lockReserved()
	if err == nil {
		err = db.lockExclusive()
	}
	if err == nil {
		err = db.checkIndexUnused()
	}
	if err != nil {
		return join(err, db.toShared(), db.unlockShared())
	}
	return nil
}

// checkIndexUnused gives ErrLocked if somebody has a wal-index of the database open: he has lost his lock on the file, but is there.
func (db *DB) checkIndexUnused() error {
	_, there, err := db.options.system.SideExists(db.file, "-shm")
	if err != nil || !there {
		return err
	}
	f, err := db.options.system.OpenSide(db.file, "-shm", osfile.ReadOnly)
	if err != nil {
		return ignoreMissing(err)
	}
	locked, err := f.Locked(osfile.Exclusive, format.WALOpenLock, 1)
	if err == nil && locked {
		err = errInUse
	}
	return join(err, f.Close())
}

// lockNext keeps everybody out of the file that is to take the place of the database, for a DB that is sole. The handle is nil for others.
func (db *DB) lockNext() (osfile.Handle, error) {
	if !db.sole {
		return nil, nil
	}
	next, err := db.options.system.OpenSide(db.file, db.draft, osfile.ReadWrite)
	if err != nil {
		return nil, err
	}
	err = next.Lock(osfile.Exclusive, pendingByte, 1)
	if err == nil {
		err = next.Lock(osfile.Exclusive, sharedByte, sharedSize)
	}
	if err != nil {
		return nil, join(err, next.Close())
	}
	return next, nil
}

// takeOver takes the locks of next, which is the same file, for db.file. Nobody gets SHARED in between: PENDING is not free before the range
// is locked again.
func (db *DB) takeOver(next osfile.Handle) error {
	if next == nil {
		return nil
	}
	err := next.Unlock(sharedByte, sharedSize)
	if err == nil {
		err = db.file.Lock(osfile.Exclusive, sharedByte, sharedSize)
	}
	if err = join(err, next.Close()); err != nil {
		return err
	}
	return db.retry(context.Background(), func() error { // somebody may be trying to get SHARED
		return db.file.Lock(osfile.Exclusive, pendingByte, 2)
	})
}

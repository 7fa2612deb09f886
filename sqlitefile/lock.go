package sqlitefile

import (
	"github.com/foliofs/folio/internal/osfile"
)

// The bytes of a database file that carry its locks (sqlite.org/lockingv3.html).
const (
	pendingByte  = 0x40000000
	reservedByte = pendingByte + 1
	sharedByte   = pendingByte + 2
	sharedSize   = 510
)

// lock takes a lock of the file. holds says what the connection does that keeps us from it.
func (db *DB) lock(kind osfile.LockKind, off, n int64, holds string) error {
	return heldBy(db.file.Lock(kind, off, n), holds, db.file, kind, off, n)
}

// lockShared takes SHARED as SQLite does: PENDING is read-locked while the range is, so that a writer that holds PENDING
// keeps new readers out.
func (db *DB) lockShared() error {
	if db.sole {
		return nil
	}
	if err := db.lock(osfile.Shared, pendingByte, 1, "wants to write, and waits for readers"); err != nil {
		return err
	}
	err := db.lock(osfile.Shared, sharedByte, sharedSize, "is writing")
	return join(err, db.file.Unlock(pendingByte, 1))
}

func (db *DB) unlockShared() error {
	if db.sole {
		return nil
	}
	return db.file.Unlock(sharedByte, sharedSize)
}

// lockReserved announces a writer. The caller holds SHARED.
func (db *DB) lockReserved() error {
	if db.sole {
		return nil
	}
	db.reserved.Store(true)
	err := db.lock(osfile.Exclusive, reservedByte, 1, "is writing")
	if err != nil {
		db.reserved.Store(false)
	}
	return err
}

// lockExclusive keeps everybody else out. The caller holds SHARED, and no reader of this process uses it. Where others still read,
// PENDING stays, so that no new ones come, until lockExclusive succeeds or toShared.
func (db *DB) lockExclusive() error {
	if db.sole {
		return nil
	}
	if err := db.lock(osfile.Exclusive, pendingByte, 1, "wants to write, or begins to read"); err != nil {
		return err
	}
	return db.lock(osfile.Exclusive, sharedByte, sharedSize, "has it open for reading")
}

// toReserved goes back from EXCLUSIVE.
func (db *DB) toReserved() error {
	if db.sole {
		return nil
	}
	return join(db.file.Lock(osfile.Shared, sharedByte, sharedSize), db.file.Unlock(pendingByte, 1))
}

// toShared goes back to SHARED from whatever is held above it.
func (db *DB) toShared() error {
	if db.sole {
		return nil
	}
	defer db.reserved.Store(false)
	return join(
		db.lock(osfile.Shared, sharedByte, sharedSize, "is writing"),
		db.file.Unlock(pendingByte, 2), // PENDING and RESERVED
	)
}

// writerWaits reports whether some connection holds PENDING: it will write as soon as the readers are gone.
func (db *DB) writerWaits() bool {
	if db.sole {
		return false
	}
	locked, err := db.file.Locked(osfile.Shared, pendingByte, 1)
	return err == nil && locked
}

// obstructs returns what tells a lease on SHARED whether it stands in anybody's way: in that of a writer, or of a connection that wants to
// play back a hot journal. Such a one cannot say so, for SQLite takes no PENDING to recover. The writer may have died while this process
// was reading, before it changed the file.
func (db *DB) obstructs() func() bool {
	tick, hot := 0, false
	return func() bool {
		if tick++; hot || tick%hotTicks == 0 {
			hot = db.abandoned()
		}
		return hot || db.writerWaits()
	}
}

// hotTicks is how often a lease looks for a hot journal, in ticks.
const hotTicks = 16

// abandoned reports whether a writer died and left a hot journal. A writer of this DB is alive: its own lock does not show.
func (db *DB) abandoned() bool {
	if db.sole || db.reserved.Load() {
		return false
	}
	hot, err := db.hot()
	return err == nil && hot && !db.reserved.Load()
}

package sqlitefile

import (
	"fmt"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
)

// Holds are locks that mean nothing to the engine: an application says by them, to all that have the database open, that it still
// uses something that has a number. They end with Release, with Close, or with the process.
//
// Each is a shared lock on one byte far behind everything that a database can hold, and is of this DB: holding a number twice is
// holding it once.

// MaxHold is the largest number that can be held.
const MaxHold = 1<<40 - 1

const holdBase = 1 << 60 // a database ends before 2^48

// holdings are the holds of a DB. They go with it when Compact puts another file in the place of the database.
type holdings struct {
	mu  sync.Mutex // guards set, and db.file against being exchanged
	set map[int64]bool
}

// lock holds everything on a file.
func (h *holdings) lock(file osfile.Handle) error {
	for n := range h.set {
		if err := file.Lock(osfile.Shared, holdBase+n, 1); err != nil {
			return err
		}
	}
	return nil
}

// Hold says that this DB uses n.
func (db *DB) Hold(n int64) error {
	if err := checkHold(n); err != nil {
		return err
	}
	db.holds.mu.Lock()
	defer db.holds.mu.Unlock()
	if db.options.Immutable {
		return nil
	}
	if err := db.file.Lock(osfile.Shared, holdBase+n, 1); err != nil {
		return err
	}
	if db.holds.set == nil {
		db.holds.set = make(map[int64]bool)
	}
	db.holds.set[n] = true
	return nil
}

// Release says that this DB does not use n any more.
func (db *DB) Release(n int64) error {
	if err := checkHold(n); err != nil {
		return err
	}
	db.holds.mu.Lock()
	defer db.holds.mu.Unlock()
	if db.options.Immutable {
		return nil
	}
	delete(db.holds.set, n)
	return db.file.Unlock(holdBase+n, 1)
}

// Held reports whether another DB, of this process or another, holds n. The holds of this one do not count.
func (db *DB) Held(n int64) (bool, error) {
	if err := checkHold(n); err != nil {
		return false, err
	}
	db.holds.mu.Lock()
	defer db.holds.mu.Unlock()
	if db.options.Immutable {
		return false, nil
	}
	return db.file.Locked(osfile.Exclusive, holdBase+n, 1)
}

// carryHolds holds everything on the file that is about to become the database, until the handle is closed: by then the DB has opened it by
// its name, and nobody has seen it without the holds. The handle is nil if nothing is held. The caller has holds.mu.
func (db *DB) carryHolds() (osfile.Handle, error) {
	if len(db.holds.set) == 0 {
		return nil, nil
	}
	file, err := db.options.system.OpenSide(db.file, db.draft, osfile.ReadWrite)
	if err != nil {
		return nil, err
	}
	return file, db.holds.lock(file)
}

func checkHold(n int64) error {
	if n < 0 || n > MaxHold {
		return fmt.Errorf("%w: a hold of number %d", ErrUnsupported, n)
	}
	return nil
}

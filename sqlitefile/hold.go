package sqlitefile

import (
	"fmt"

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

// Hold says that this DB uses n.
func (db *DB) Hold(n int64) error {
	if err := checkHold(n); err != nil {
		return err
	}
	return db.file.Lock(osfile.Shared, holdBase+n, 1)
}

// Release says that this DB does not use n any more.
func (db *DB) Release(n int64) error {
	if err := checkHold(n); err != nil {
		return err
	}
	return db.file.Unlock(holdBase+n, 1)
}

// Held reports whether another DB, of this process or another, holds n. The holds of this one do not count.
func (db *DB) Held(n int64) (bool, error) {
	if err := checkHold(n); err != nil {
		return false, err
	}
	return db.file.Locked(osfile.Exclusive, holdBase+n, 1)
}

func checkHold(n int64) error {
	if n < 0 || n > MaxHold {
		return fmt.Errorf("%w: a hold of number %d", ErrUnsupported, n)
	}
	return nil
}

package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/foliofs/folio/internal/osfile"
)

// The bytes that SQLite's locks are on.
const (
	lockPending    = 0x40000000
	lockSharedSize = 510
)

// checkTarget refuses a path at which a new database cannot be.
func checkTarget(path string, replace bool) error {
	_, exists, err := osfile.Exists(path)
	if err != nil {
		return err
	}
	if exists && !replace {
		return fs.ErrExist
	}
	return checkCompanions(path)
}

// checkCompanions refuses a journal or a log that SQLite would take for the new database's own, and destroy it with.
func checkCompanions(path string) error {
	for _, suffix := range []string{"-journal", "-wal"} {
		size, exists, err := osfile.Exists(path + suffix)
		if err != nil {
			return err
		}
		if exists && size > 0 {
			return fmt.Errorf("%w: %s%s of another database is in the way", fs.ErrExist, path, suffix)
		}
	}
	return nil
}

// place gives the finished file its name. A database that it replaces must not be in use.
func place(tmp *osfile.File, path string, replace bool) (err error) {
	if err := checkCompanions(path); err != nil {
		return err
	}
	if !replace {
		return osfile.PlaceDurably(tmp, path)
	}
	old, err := osfile.Open(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return osfile.PlaceDurably(tmp, path)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if err := old.Lock(osfile.Exclusive, lockPending, 2+lockSharedSize); err != nil {
		if errors.Is(err, osfile.ErrLocked) {
			return ErrBusy
		}
		return err
	}
	if err := checkCompanions(old.Name()); err != nil {
		return err
	}
	return osfile.ReplaceDurably(tmp, old.Name())
}

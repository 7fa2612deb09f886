package dberr

import (
	"errors"

	"github.com/foliofs/folio/internal/osfile"
)

// A HeldError says which process holds a lock, and for which purpose. It matches osfile.ErrLocked.
type HeldError struct {
	Err    error
	Who    string
	File   osfile.Handle // nil if it is known who
	Kind   osfile.LockKind
	Off, N int64
}

func (e *HeldError) Unwrap() error { return e.Err }

func (e *HeldError) Error() string { return e.Err.Error() }

// HeldBy adds the activity of the holder to an error that says that a lock is held.
func HeldBy(err error, holds string, file osfile.Handle, kind osfile.LockKind, off, n int64) error {
	if !errors.Is(err, osfile.ErrLocked) {
		return err
	}
	return &HeldError{err, "another connection " + holds, file, kind, off, n}
}

// ErrOurselves says that another goroutine of this process holds the lock.
var ErrOurselves = &HeldError{Err: osfile.ErrLocked, Who: "another goroutine uses this DB"}

package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A heldError says which lock somebody else holds, and what for. It matches osfile.ErrLocked.
type heldError struct {
	error
	who    string
	file   osfile.Handle // nil if it is known who
	kind   osfile.LockKind
	off, n int64
}

func (e *heldError) Unwrap() error { return e.error }

// heldBy lets an error that says that a lock is held say as well what its holder does.
func heldBy(err error, holds string, file osfile.Handle, kind osfile.LockKind, off, n int64) error {
	if !errors.Is(err, osfile.ErrLocked) {
		return err
	}
	return &heldError{err, "another connection " + holds, file, kind, off, n}
}

// What this DB itself is in the way of.
var (
	errOurReaders = &heldError{error: osfile.ErrLocked, who: "a transaction of this DB is reading"}
	errMaking     = &heldError{error: osfile.ErrLocked, who: "another connection makes a file next to it that cannot be read yet"}
	errInUse      = &heldError{error: osfile.ErrLocked, who: "another connection has the database open"}
	errOurselves  = &heldError{error: osfile.ErrLocked, who: "another goroutine uses this DB"}
)

// readers returns the error for readers that keep the log from beginning anew, or a checkpoint from copying all of it.
func (x *walIndex) readers() error {
	return heldBy(osfile.ErrLocked, "is reading an older state", x.file, osfile.Exclusive, format.WALReadLock, format.WALReaders)
}

// A busyError says who kept a lock for longer than BusyTimeout. It matches ErrBusy. Its text does
// not name that option: users of programs see it, too.
type busyError struct {
	who string
	pid int // of the process; 0 where the system does not tell
}

func (e *busyError) Error() string {
	s := fmt.Sprintf("%v: %s", ErrBusy, e.who)
	switch e.pid {
	case 0:
	case osfile.Process:
		s += " (in this process)"
	default:
		s += fmt.Sprintf(" (process %d)", e.pid)
	}
	return s
}

func (e *busyError) Is(target error) bool { return target == ErrBusy }

// busyError turns the last error of a wait into what the caller is told. Here the system is asked who holds the lock, if he still does. One that
// does not want to wait is not kept up by that.
func (db *DB) busyError(err error) error {
	b := &busyError{who: "another connection uses it"}
	if held, ok := errors.AsType[*heldError](err); ok {
		b.who = held.who
		if held.file != nil && db.options.BusyTimeout >= 0 {
			b.pid, _ = held.file.Holder(held.kind, held.off, held.n) // 0 will do
		}
	}
	return &fs.PathError{Op: "lock", Path: db.path, Err: b}
}

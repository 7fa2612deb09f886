package pager

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// The ways in which this pager itself is in the way.
var (
	errOurReaders = &dberr.HeldError{Err: osfile.ErrLocked, Who: "a transaction of this DB is reading"}
	errInUse      = &dberr.HeldError{Err: osfile.ErrLocked, Who: "another connection has the database open"}
)

// A busyError says who kept a lock for longer than BusyTimeout. It matches ErrBusy. Its text does
// not name that option: users of programs see it, too.
type busyError struct {
	who string
	pid int // of the process; 0 where the system does not tell
}

func (e *busyError) Error() string {
	s := fmt.Sprintf("%v: %s", dberr.ErrBusy, e.who)
	switch e.pid {
	case 0:
	case osfile.Process:
		s += " (in this process)"
	default:
		s += fmt.Sprintf(" (process %d)", e.pid)
	}
	return s
}

func (e *busyError) Is(target error) bool { return target == dberr.ErrBusy }

// busyError turns the last error of a wait into the error that the caller gets. Here the system is
// asked who holds the lock, if he still does. One that does not want to wait is not kept up by
// that.
func (p *Pager) busyError(err error) error {
	b := &busyError{who: "another connection uses it"}
	if held, ok := errors.AsType[*dberr.HeldError](err); ok {
		b.who = held.Who
		if held.File != nil && p.options.BusyTimeout >= 0 {
			b.pid, _ = held.File.Holder(held.Kind, held.Off, held.N) // 0 will do
		}
	}
	return &fs.PathError{Op: "lock", Path: p.path, Err: b}
}

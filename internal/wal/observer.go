package wal

import (
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// An observer notices that a connection begins to write a database that is read without a lock
// (logWatched). It looks for the file -shm, which each connection in WAL mode makes before it
// writes.
//
// That file may be out of sight, if the database has a name in another directory or is mounted
// alone. Therefore an observer holds only the first byte of SHARED: a lock on the other bytes
// belongs to a connection that observes nothing, and may write. And it looks at the time of the
// last change.
type observer struct {
	sys   osfile.System
	file  osfile.Handle
	stamp osfile.Stamp
}

// newObserver begins to observe a database. The caller must hold SHARED on it. ErrLocked means that
// another connection has it open.
func newObserver(sys osfile.System, file osfile.Handle) (*observer, error) {
	o := &observer{sys: sys, file: file}
	if osfile.SplitsLocks {
		if err := file.Unlock(format.SharedByte+1, format.SharedSize-1); err != nil {
			return nil, err
		}
	}
	var err error
	if o.stamp, err = stampOf(o.file); err != nil {
		return nil, err
	}
	return o, o.others()
}

// others gives ErrLocked if a connection holds the database open that may write it.
func (o *observer) others() error {
	if !osfile.SplitsLocks {
		return nil
	}
	locked, err := o.file.Locked(osfile.Exclusive, format.SharedByte+1, format.SharedSize-1)
	if err != nil || !locked {
		return err
	}
	return dberr.HeldBy(osfile.ErrLocked, "has the database open, with a log that cannot be seen here", o.file,
		osfile.Exclusive, format.SharedByte+1, format.SharedSize-1)
}

// look gives ErrChanged if a connection may have written since the observer began.
func (o *observer) look() error {
	_, there, err := o.sys.SideExists(o.file, "-shm")
	if err != nil {
		return err
	}
	stamp, err := stampOf(o.file)
	if err != nil {
		return err
	}
	if there || stamp != o.stamp {
		return dberr.ErrChanged
	}
	return nil
}

// UnlessChanged must be called after reading. It returns err, the result of that, unless the file
// has changed. A nil observer looks at nothing.
func (o *observer) UnlessChanged(err error) error {
	if o == nil {
		return err
	}
	if changed := o.look(); changed != nil {
		return changed
	}
	return err
}

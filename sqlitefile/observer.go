package sqlitefile

import (
	"fmt"

	"github.com/foliofs/folio/internal/osfile"
)

// ErrChanged says that another process began to write a database that was read without a lock,
// since there was no file -shm and none could be made. What was read before is right. A new view
// reads on; see docs/engine.md. It matches ErrBusy.
var ErrChanged = fmt.Errorf("%w: another process began to write it while it was read without a lock; read again", ErrBusy)

// An observer notices that a connection begins to write a database that is read without a lock
// (logWatched). It looks for the file -shm, which each connection in WAL mode makes before it
// writes.
//
// That file may be out of sight, where the database has a name in another directory or is mounted
// alone. Therefore an observer holds only the first byte of SHARED: a lock on the others is that of
// a connection that observes nothing, and may write. And it looks at the time of the last change.
type observer struct {
	sys   osfile.System
	file  osfile.Handle
	stamp osfile.Stamp
}

// newObserver begins to observe a database. The caller holds SHARED on it. ErrLocked means that
// another connection has it open.
func newObserver(sys osfile.System, file osfile.Handle) (*observer, error) {
	o := &observer{sys: sys, file: file}
	if osfile.SplitsLocks {
		if err := file.Unlock(sharedByte+1, sharedSize-1); err != nil {
			return nil, err
		}
	}
	var err error
	if o.stamp, err = o.now(); err != nil {
		return nil, err
	}
	return o, o.others()
}

// now returns the stamp of the database, or that of the zero time where the system has none.
func (o *observer) now() (osfile.Stamp, error) {
	if f, ok := o.file.(interface{ Stamp() (osfile.Stamp, error) }); ok {
		return f.Stamp()
	}
	return osfile.Stamp{}, nil
}

// others gives ErrLocked if a connection has the database open that may write it.
func (o *observer) others() error {
	if !osfile.SplitsLocks {
		return nil
	}
	locked, err := o.file.Locked(osfile.Exclusive, sharedByte+1, sharedSize-1)
	if err != nil || !locked {
		return err
	}
	return heldBy(osfile.ErrLocked, "has the database open, with a log that cannot be seen here", o.file,
		osfile.Exclusive, sharedByte+1, sharedSize-1)
}

// look gives ErrChanged if a connection may have written since the observer began.
func (o *observer) look() error {
	_, there, err := o.sys.SideExists(o.file, "-shm")
	if err != nil {
		return err
	}
	stamp, err := o.now()
	if err != nil {
		return err
	}
	if there || stamp != o.stamp {
		return ErrChanged
	}
	return nil
}

// unlessChanged is called after reading, which gave err, and returns what has become of it. A nil
// observer looks at nothing.
func (o *observer) unlessChanged(err error) error {
	if o == nil {
		return err
	}
	if changed := o.look(); changed != nil {
		return changed
	}
	return err
}

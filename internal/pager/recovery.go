package pager

import (
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/journal"
	"github.com/foliofs/folio/internal/osfile"
)

// recovery finds and plays back the journal of a process that died.
type recovery struct {
	*core
	locks   *fileLocks
	journal journal.Database
}

// hot reports whether there is a journal of the database that no process works on and that must be
// played back. The caller must hold SHARED. Another process may begin and end a transaction while
// we look, and then look like a dead one, but not every time.
func (r *recovery) hot() (bool, error) {
	for range 4 {
		if hot, err := r.journal.LooksHot(r.writerAlive); err != nil || !hot {
			return false, err
		}
	}
	return true, nil
}

// writerAlive reports whether another connection holds RESERVED.
func (r *recovery) writerAlive() (bool, error) {
	if r.options.Immutable {
		return false, nil
	}
	return r.file.Locked(osfile.Shared, format.ReservedByte, 1)
}

// recoverFile plays back a hot journal. The caller must hold SHARED. It goes to EXCLUSIVE without
// RESERVED: a process that sees RESERVED would take the journal for a living writer's, and read the
// file as it is.
func (r *recovery) recoverFile() error {
	if r.options.ReadOnly {
		return r.PathError("open", r.journal.NeedsRecovery())
	}
	err := r.locks.lockExclusive()
	if err == nil {
		err = r.replay()
	}
	return dberr.Join(err, r.locks.toShared())
}

// replay plays the journal back, if it is still there. The caller must hold EXCLUSIVE.
func (r *recovery) replay() error {
	j, err := r.journal.Open()
	if err != nil || j == nil {
		return err
	}
	start := r.clock()
	err = j.PlayBack()
	r.trace(Event{Kind: EventRecovery, Start: start, Pages: j.Restored, Err: err})
	return dberr.Join(err, j.Close())
}

// obstructs returns a function that tells a lease on SHARED whether it stands in the way of a
// writer, or of a connection that wants to play back a hot journal. Such a one cannot say so, for
// SQLite takes no PENDING to recover. The writer may have died while this process was reading,
// before it changed the file.
func (r *recovery) obstructs() func() bool {
	tick, hot := 0, false
	return func() bool {
		if tick++; hot || tick%hotTicks == 0 {
			hot = r.abandoned()
		}
		return hot || r.locks.writerWaits()
	}
}

// hotTicks is how often a lease looks for a hot journal, in ticks.
const hotTicks = 16

// abandoned reports whether a writer died and left a hot journal. A writer of this pager is alive:
// its own lock does not show.
func (r *recovery) abandoned() bool {
	if r.sole || r.locks.reserved.Load() {
		return false
	}
	hot, err := r.hot()
	return err == nil && hot && !r.locks.reserved.Load()
}

package sqlitefile

import (
	"errors"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

// An EventKind says what an Event tells of.
type EventKind uint8

// The kinds of events.
const (
	EventCommit     EventKind = iota + 1 // a group of transactions was committed, or failed to be
	EventCheckpoint                      // pages were copied from the log into the database
	EventRecovery                        // what a crash left was put in order: a log read, or a journal played back
	EventWait                            // a lock was waited for that somebody else held
)

func (k EventKind) String() string {
	return [...]string{"", "commit", "checkpoint", "recovery", "wait"}[k]
}

// An Event tells Options.Trace of something that is over.
type Event struct {
	Kind         EventKind
	Start        time.Time
	Took         time.Duration
	Transactions int   // of a commit: how many were in the group
	Pages        int   // of a commit: how many changed; of a checkpoint: frames of the log passed; of a recovery: frames or pages found
	Err          error // nil if all went well
}

// clock returns the time for the start of an event, if somebody wants to know.
func (db *DB) clock() (now time.Time) {
	if db.options.Trace != nil {
		now = time.Now()
	}
	return now
}

// trace tells of an event that is over now.
func (db *DB) trace(e Event) {
	if db.options.Trace == nil {
		return
	}
	e.Took = time.Since(e.Start)
	db.options.Trace(e)
}

// traceRecovery tells of the recovery of a log that was not empty.
func (db *DB) traceRecovery(start time.Time, frames uint32, err error) {
	if frames > 0 || err != nil && !errors.Is(err, osfile.ErrLocked) {
		db.trace(Event{Kind: EventRecovery, Start: start, Pages: int(frames), Err: err})
	}
}

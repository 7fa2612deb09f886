package sqlitefile

import (
	"time"

	"github.com/foliofs/folio/internal/pager"
)

// Stats describes the state of a database, and counts the work of this DB since Open.
type Stats struct {
	PageSize  int    // bytes
	Pages     uint32 // in the database, as this DB saw it last
	FreePages uint32

	LogFrames uint32 // pages in the write-ahead log
	LogCopied uint32 // how many of these are in the database as well
	LogBytes  int64  // that the frames take; the file may be longer

	Checkpoints     uint64 // that this DB made
	CheckpointWaits uint64 // commits that waited for one, as the log was long
	Groups          uint64 // of transactions that were committed at once
	Transactions    uint64 // in those groups
	BusyWaits       uint64 // how often a lock was not free at once
	BusyTime        time.Duration

	Readers int // transactions at work, including the ones that write
	// OldestReader is since when the oldest of these may have been at work; zero if there are none.
	// If transactions follow one another without a gap and no transaction writes, it is since
	// when that has been so. A reader that stays for long keeps the log from restarting.
	OldestReader time.Time
}

// GroupSize returns how many transactions were committed at once on average; 0 before the first.
func (s *Stats) GroupSize() float64 {
	if s.Groups == 0 {
		return 0
	}
	return float64(s.Transactions) / float64(s.Groups)
}

// Stats returns how the database stands. It reads nothing of the file, and can be called at any
// time.
func (db *DB) Stats() Stats { return Stats(db.pager.Stats()) }

// An EventKind is the subject of an Event.
type EventKind uint8

// The kinds of events.
const (
	EventCommit     EventKind = iota + 1 // a group of transactions was committed, or failed to be
	EventCheckpoint                      // pages were copied from the log into the database
	EventRecovery                        // the database was put in order after a crash: a log read, or a journal played back
	EventWait                            // a lock was waited for that another connection held
	EventLinks                           // a database in WAL mode was opened that has several names (hard links), each with a log of its own
)

// String returns the kind as a word, for example "commit".
func (k EventKind) String() string {
	return nameOf("EventKind", int(k), []string{"", "commit", "checkpoint", "recovery", "wait", "links"})
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

// tracer returns a function that calls trace with the events of the pager; nil if trace is nil.
func tracer(trace func(Event)) func(pager.Event) {
	if trace == nil {
		return nil
	}
	return func(e pager.Event) {
		trace(Event{EventKind(e.Kind), e.Start, e.Took, e.Transactions, e.Pages, e.Err})
	}
}

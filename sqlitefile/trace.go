package sqlitefile

import (
	"time"

	"github.com/foliofs/folio/internal/pager"
)

// An EventKind is the subject of an Event.
type EventKind uint8

// The kinds of events.
const (
	EventCommit     EventKind = iota + 1 // a group of transactions was committed, or failed to be
	EventCheckpoint                      // pages were copied from the log into the database
	EventRecovery                        // the database was put in order after a crash: a log read, or a journal played back
	EventWait                            // a lock was waited for that another connection held
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

// tracer returns a function that calls trace with the events of the pager; nil if trace is nil.
func tracer(trace func(Event)) func(pager.Event) {
	if trace == nil {
		return nil
	}
	return func(e pager.Event) {
		trace(Event{EventKind(e.Kind), e.Start, e.Took, e.Transactions, e.Pages, e.Err})
	}
}

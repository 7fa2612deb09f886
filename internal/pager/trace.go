package pager

import (
	"errors"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

// An EventKind is the subject of an Event.
type EventKind uint8

const (
	EventCommit EventKind = iota + 1
	EventCheckpoint
	EventRecovery
	EventWait
	EventLinks
)

// An Event tells of something that is over. Package sqlitefile explains the fields.
type Event struct {
	Kind         EventKind
	Start        time.Time
	Took         time.Duration
	Transactions int
	Pages        int
	Err          error
}

// clock returns the time for the start of an event, if Options.Trace is set.
func (c *core) clock() (now time.Time) {
	if c.tell != nil {
		now = time.Now()
	}
	return now
}

// trace tells of an event that is over now.
func (c *core) trace(e Event) {
	if c.tell == nil {
		return
	}
	e.Took = time.Since(e.Start)
	c.tell(e)
}

// traceLinks tells of a database in WAL mode that has several names: a connection that opens it by
// another one has a log of its own, and the commits of one of them are lost.
func (c *core) traceLinks(db osfile.Handle) {
	f, ok := db.(interface{ Links() (uint64, error) })
	if c.tell == nil || !ok {
		return
	}
	if n, err := f.Links(); err == nil && n > 1 {
		c.trace(Event{Kind: EventLinks, Start: time.Now(), Err: fmt.Errorf("the database has %d names: open it by one of them only, as each has a log of its own", n)})
	}
}

// traceRecovery tells of the recovery of a log that was not empty.
func (c *core) traceRecovery(start time.Time, frames uint32, err error) {
	if frames > 0 || err != nil && !errors.Is(err, osfile.ErrLocked) {
		c.trace(Event{Kind: EventRecovery, Start: start, Pages: int(frames), Err: err})
	}
}

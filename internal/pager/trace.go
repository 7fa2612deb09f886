package pager

import (
	"errors"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

// clock returns the time for the start of an event, if Options.Trace is set.
func (c *core) clock() (now time.Time) {
	if c.options.Trace != nil {
		now = time.Now()
	}
	return now
}

// trace tells of an event that is over now.
func (c *core) trace(e Event) {
	if c.options.Trace == nil {
		return
	}
	e.Took = time.Since(e.Start)
	c.options.Trace(e)
}

// traceLinks tells of a database in WAL mode that has several names: a connection that opens it by
// another one has a log of its own, and the commits of one of them are lost.
func (c *core) traceLinks(db osfile.Handle) {
	f, ok := db.(interface{ Links() (uint64, error) })
	if c.options.Trace == nil || !ok {
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

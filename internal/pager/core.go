package pager

import (
	"sync/atomic"
	"time"
)

// A core is what all parts of a pager use and that uses none of them: the name of the database, the
// failure that ended writing, counts, and the patience with other connections.
type core struct {
	path    string
	failed  atomic.Pointer[error] // the failed sync that ended writing
	tally   tally
	tell    func(Event)   // Options.Trace
	timeout time.Duration // Options.BusyTimeout
}

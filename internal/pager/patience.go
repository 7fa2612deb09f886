package pager

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// A call that waits for a transaction of its own goroutine would wait for ever. No call can know
// whose transaction runs. So a call gives up with ErrBusy if one and the same transaction has run
// for longer than BusyTimeout while the call waited. It waits on as long as others get their turn.

// leastPatience is how long a transaction may run at least before the calls that wait for it give
// up.
const leastPatience = 100 * time.Millisecond

// A Patience limits how long a call waits for the transactions of a pager. It belongs to one call
// at a time, and can be used again.
type Patience struct {
	Look  *time.Timer // tells the caller to call Lost; stopped while none waits
	turns *turns
	seen  uint64 // turns.runs at the latest look
}

// NewPatience returns a Patience.
func NewPatience() Patience {
	look := time.NewTimer(leastPatience)
	look.Stop()
	return Patience{Look: look}
}

// begin is called when a wait begins. The caller stops Look when it ends.
func (w *Patience) begin(t *turns) {
	w.turns, w.seen = t, t.runs.Load()
	w.Look.Reset(max(w.turns.core.options.BusyTimeout, leastPatience))
}

// Lost returns an error if the wait must end. If ctx was cancelled meanwhile, that is the error.
func (w *Patience) Lost(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	before := w.seen
	w.begin(w.turns)
	if w.seen == before && w.seen%2 == 1 {
		return w.turns.core.busyError(errLong)
	}
	return nil
}

// errLong is the reason why a call does not wait any longer.
var errLong = &dberr.HeldError{Err: osfile.ErrLocked, Who: "one transaction has run for longer than BusyTimeout"}

// acquire takes a token, unless ctx is cancelled first or patience is lost.
func (t *turns) acquire(ctx context.Context, token chan struct{}) error {
	select {
	case <-token:
		return nil
	default:
	}
	patience := NewPatience()
	patience.begin(t)
	defer patience.Look.Stop()
	for {
		select {
		case <-token:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.Look.C:
			if err := patience.Lost(ctx); err != nil {
				return err
			}
		}
	}
}

// turns say which goroutine runs a transaction, and which one commits a group.
type turns struct {
	core       *core
	writeLock  chan struct{} // holds one token; its holder runs a transaction
	commitLock chan struct{} // holds one token; its holder commits a group
	callers    atomic.Int64  // how many calls are in Update
	runs       atomic.Uint64 // how many transactions have begun or ended: odd while one runs
}

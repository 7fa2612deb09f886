package pager

import (
	"context"
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
	Look *time.Timer // tells the caller to call Lost; stopped while none waits
	seen uint64      // turns.runs at the latest look
}

// NewPatience returns a Patience.
func NewPatience() Patience {
	look := time.NewTimer(leastPatience)
	look.Stop()
	return Patience{Look: look}
}

// Begin is called when a wait for transactions of p begins. The caller stops Look when it ends.
func (w *Patience) Begin(p *Pager) {
	w.seen = p.writer.runs.Load()
	w.Look.Reset(max(p.timeout, leastPatience))
}

// Lost returns an error if the wait must end. If ctx was cancelled meanwhile, that is the error.
func (w *Patience) Lost(ctx context.Context, p *Pager) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	before := w.seen
	w.Begin(p)
	if w.seen == before && w.seen%2 == 1 {
		return p.busyError(errLong)
	}
	return nil
}

// errLong is the reason why a call does not wait any longer.
var errLong = &dberr.HeldError{Err: osfile.ErrLocked, Who: "one transaction has run for longer than BusyTimeout"}

// take takes a token, unless ctx is cancelled first or patience is lost.
func (p *Pager) take(ctx context.Context, token chan struct{}) error {
	select {
	case <-token:
		return nil
	default:
	}
	patience := NewPatience()
	patience.Begin(p)
	defer patience.Look.Stop()
	for {
		select {
		case <-token:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.Look.C:
			if err := patience.Lost(ctx, p); err != nil {
				return err
			}
		}
	}
}

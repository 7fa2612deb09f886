package pager

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// A call within the function of a transaction that would wait for the end of that transaction waits
// for ever. It is found by the stack of the caller, which has a frame of Tx.call for each
// transaction whose function it is in. A frame does not say of which pager it is. But if as many
// functions run in the whole process as there are frames, one of this pager among them, then the
// caller is in that one: ErrInUpdate. If more functions run, the caller may be in the transaction
// of another pager, and gets ErrBusy after BusyTimeout. A caller in no transaction waits for as
// long as it takes.
//
// Only a caller that has waited for OwnPatience looks at its stack. A transaction of BeginUpdate is
// not found, nor is a function that waits for another goroutine.

// OwnPatience is how long a call waits for the transaction before until it looks whether that is
// its own.
const OwnPatience = 100 * time.Millisecond

// calls counts the functions of transactions that run, of all pagers.
var calls atomic.Int64

// enterCall and leaveCall are around the function of a transaction.
func (w *writer) enterCall() {
	calls.Add(1)
	w.inCall.Store(true)
}

func (w *writer) leaveCall() {
	w.inCall.Store(false)
	calls.Add(-1)
}

// A Patience limits how long a call waits for the transactions of a pager. It belongs to one call
// at a time, and can be used again.
type Patience struct {
	Look  *time.Timer // tells the caller to call Lost; stopped while none waits
	looks int
}

// NewPatience returns a Patience.
func NewPatience() Patience {
	look := time.NewTimer(OwnPatience)
	look.Stop()
	return Patience{Look: look}
}

// Begin is called when a wait begins. The caller stops Look when it ends.
func (w *Patience) Begin() {
	w.looks = 0
	w.Look.Reset(OwnPatience)
}

// Lost returns an error if the wait of the calling goroutine for a transaction of p must end. If
// ctx was cancelled meanwhile, that is the error.
func (w *Patience) Lost(ctx context.Context, p *Pager) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.tally.looks.Add(1)
	w.looks++
	own, running := ownCalls(), p.writer.inCall.Load()
	switch all := calls.Load(); {
	case own == 0:
		return nil // it waits for another goroutine, and needs no other look
	case running && own == all:
		return p.PathError("wait", dberr.ErrInUpdate)
	case running && time.Duration(w.looks)*OwnPatience >= p.timeout:
		return p.busyError(errNested)
	}
	w.Look.Reset(OwnPatience)
	return nil
}

// errNested is the reason why a call within a transaction does not wait any longer.
var errNested = &dberr.HeldError{Err: osfile.ErrLocked, Who: "a transaction runs, and the call is within one itself"}

// ownCalls counts the frames of Tx.call on the stack of this goroutine.
func ownCalls() (n int64) {
	var pcs [64]uintptr
	for skip := 0; ; skip += len(pcs) {
		found := runtime.Callers(skip, pcs[:])
		if found == 0 {
			return n
		}
		frames := runtime.CallersFrames(pcs[:found])
		for more := true; more; {
			var frame runtime.Frame
			if frame, more = frames.Next(); frame.Function == callFunction {
				n++
			}
		}
	}
}

// callFunction is the name of Tx.call on a stack.
const callFunction = "github.com/foliofs/folio/internal/pager.(*Tx).call"

// take takes a token, unless ctx is cancelled first, or the token belongs to the transaction that
// the caller is in.
func (p *Pager) take(ctx context.Context, token chan struct{}) error {
	select {
	case <-token:
		return nil
	default:
	}
	patience := NewPatience()
	patience.Begin()
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

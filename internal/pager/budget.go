package pager

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/dberr"
)

// A waitBudget is how long the calls that share it may wait for locks of other connections, all
// together. Only time asleep counts: a transaction may take long between two waits.
type waitBudget struct {
	timeout time.Duration
	waited  atomic.Int64 // nanoseconds
}

type budgetKey struct{}

// DefaultBusyTimeout is how long a call waits for other connections.
const DefaultBusyTimeout = 5 * time.Second

// WithBusyTimeout returns a context whose calls to this package wait for locks of other connections
// for d at most, all of them together, in place of Options.BusyTimeout for each. As there, 0 means
// 5 seconds, and less than 0 not to wait.
func WithBusyTimeout(ctx context.Context, d time.Duration) context.Context {
	if d == 0 {
		d = DefaultBusyTimeout
	}
	return context.WithValue(ctx, budgetKey{}, &waitBudget{timeout: d})
}

// left returns how long to wait still.
func (p *waitBudget) left() time.Duration { return p.timeout - time.Duration(p.waited.Load()) }

// sleep waits for d, unless ctx is cancelled first.
func (p *waitBudget) sleep(ctx context.Context, d time.Duration) error {
	start := time.Now()
	defer func() { p.waited.Add(int64(time.Since(start))) }()
	return sleep(ctx, d)
}

// LockPoll is how often a lock is looked at that another connection holds. To look takes a
// microsecond and no lock, so that it is in no connection's way. A connection that writes all the
// time leaves gaps of some microseconds between its transactions: looking seldom would miss them.
const LockPoll = 250 * time.Microsecond

// await waits for d, or until the lock is free that err tells of.
func (p *waitBudget) await(ctx context.Context, err error, d time.Duration) error {
	held, ok := errors.AsType[*dberr.HeldError](err)
	if !ok || held.File == nil {
		return p.sleep(ctx, d)
	}
	for ; d > 0; d -= LockPoll {
		if err := p.sleep(ctx, min(d, LockPoll)); err != nil {
			return err
		}
		if locked, err := held.File.Locked(held.Kind, held.Off, held.N); err != nil || !locked {
			return nil
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

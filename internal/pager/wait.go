package pager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
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

// withBudget returns a context for a call that may wait for several locks.
func (c *core) withBudget(ctx context.Context) context.Context {
	if ctx.Value(budgetKey{}) != nil {
		return ctx
	}
	return WithBusyTimeout(ctx, c.timeout)
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

// retry calls fn until it gives something else than ErrLocked, for as long as BusyTimeout, or as
// ctx says.
func (c *core) retry(ctx context.Context, fn func() error) error { return c.retryWith(ctx, nil, fn) }

// retryWith is retry with the budget of ctx or, if that has none, with budget. Nil stands
// for a budget of its own.
func (c *core) retryWith(ctx context.Context, budget *waitBudget, fn func() error) error {
	err := fn()
	if !errors.Is(err, osfile.ErrLocked) {
		return err
	}
	if own, ok := ctx.Value(budgetKey{}).(*waitBudget); ok {
		budget = own
	} else if budget == nil {
		budget = &waitBudget{timeout: c.timeout}
	}
	start := time.Now()
	for wait := 50 * time.Microsecond; errors.Is(err, osfile.ErrLocked); wait = min(2*wait, 25*time.Millisecond) {
		left := budget.left()
		if left <= 0 {
			err = c.busyError(err)
			break
		}
		if err = budget.await(ctx, err, min(wait, left)); err == nil {
			err = fn()
		}
	}
	c.tally.waits.Add(1)
	c.tally.waited.Add(int64(time.Since(start)))
	c.trace(Event{Kind: EventWait, Start: start, Err: err})
	return err
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

// The ways in which this pager itself is in the way.
var (
	errOurReaders = &dberr.HeldError{Err: osfile.ErrLocked, Who: "a transaction of this DB is reading"}
	errInUse      = &dberr.HeldError{Err: osfile.ErrLocked, Who: "another connection has the database open"}
)

// A busyError says who kept a lock for longer than BusyTimeout. It matches ErrBusy. Its text does
// not name that option: users of programs see it, too.
type busyError struct {
	who string
	pid int // of the process; 0 where the system does not tell
}

func (e *busyError) Error() string {
	s := fmt.Sprintf("%v: %s", dberr.ErrBusy, e.who)
	switch e.pid {
	case 0:
	case osfile.Process:
		s += " (in this process)"
	default:
		s += fmt.Sprintf(" (process %d)", e.pid)
	}
	return s
}

func (e *busyError) Is(target error) bool { return target == dberr.ErrBusy }

// busyError turns the last error of a wait into the error that the caller gets. Here the system is
// asked who holds the lock, if he still does. One that does not want to wait is not kept up by
// that.
func (c *core) busyError(err error) error {
	b := &busyError{who: "another connection uses it"}
	if held, ok := errors.AsType[*dberr.HeldError](err); ok {
		b.who = held.Who
		if held.File != nil && c.timeout >= 0 {
			b.pid, _ = held.File.Holder(held.Kind, held.Off, held.N) // 0 will do
		}
	}
	return &fs.PathError{Op: "lock", Path: c.path, Err: b}
}

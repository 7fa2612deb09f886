package pager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
)

// withBudget returns a context for a call that may wait for several locks.
func (c *core) withBudget(ctx context.Context) context.Context {
	if ctx.Value(budgetKey{}) != nil {
		return ctx
	}
	return WithBusyTimeout(ctx, c.options.BusyTimeout)
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
		budget = &waitBudget{timeout: c.options.BusyTimeout}
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
		if held.File != nil && c.options.BusyTimeout >= 0 {
			b.pid, _ = held.File.Holder(held.Kind, held.Off, held.N) // 0 will do
		}
	}
	return &fs.PathError{Op: "lock", Path: c.path, Err: b}
}

// retryWriter is retry for the holder of the write lock: all its waits, from the lock of a writer
// to the end of the commit, take BusyTimeout at most.
func (c *core) retryWriter(ctx context.Context, fn func() error) error {
	return c.retryWith(ctx, &c.budget, fn)
}

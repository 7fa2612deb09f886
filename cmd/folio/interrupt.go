package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// An interruptError is the cause that ends the context of a command when a signal asks it to end.
type interruptError struct{ signal syscall.Signal }

func (e *interruptError) Error() string { return "interrupted" }

// interruptsKey is the key of a context's *interrupts.
type interruptsKey struct{}

// An interrupts receives the signals that end a command.
type interrupts struct{ signals chan os.Signal }

// interruptible returns a context that the first signal ends. The second one ends the process.
func interruptible(parent context.Context) (context.Context, func()) {
	in := &interrupts{make(chan os.Signal, 1)}
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, interruptsKey{}, in))
	signal.Notify(in.signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-in.signals:
			signal.Stop(in.signals)
			number, _ := s.(syscall.Signal)
			cancel(&interruptError{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(in.signals)
		cancel(nil)
	}
}

// letSignalsKill is for commands that leave nothing behind: a signal ends the process at once, even one that waits for the
// reader of its output.
func letSignalsKill(ctx context.Context) {
	if in, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		signal.Stop(in.signals)
	}
}

// interruption returns the signal that ended ctx, if one did and err comes of it.
func interruption(ctx context.Context, err error) *interruptError {
	cause, ok := errors.AsType[*interruptError](context.Cause(ctx))
	if !ok || err == nil {
		return nil
	}
	if _, direct := errors.AsType[*interruptError](err); direct || errors.Is(err, context.Canceled) {
		return cause
	}
	return nil
}

// exitCode is what shells report for a process that a signal ended.
func (e *interruptError) exitCode() int { return 128 + int(e.signal) }

// Package interrupt ends a command when a signal asks it to, with time to clean up.
package interrupt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// An Error is the cause that ends the context of a command when a signal asks it to end.
type Error struct{ Signal syscall.Signal }

func (e *Error) Error() string { return "interrupted" }

// interruptsKey is the key of a context's *interrupts.
type interruptsKey struct{}

// An interrupts receives the signals that end a command.
type interrupts struct {
	signals, pipes chan os.Signal
	hangup         atomic.Pointer[func() bool] // nil lets SIGHUP end the command
}

// endings are the signals that ask a command to end. So does SIGPIPE if the reader of its output
// has gone. The system also sends that when the other end of a connection has gone, which is an
// error of the connection only.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// Context returns a context that the first signal ends. The second one ends the process.
func Context(parent context.Context) (context.Context, func()) {
	in := &interrupts{signals: make(chan os.Signal, 1), pipes: make(chan os.Signal, 1)}
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, interruptsKey{}, in))
	for _, s := range endings {
		if !signal.Ignored(s) { // as nohup and shells do for background processes
			signal.Notify(in.signals, s)
		}
	}
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(in.pipes, syscall.SIGPIPE)
	}
	go in.wait(ctx, cancel)
	return ctx, func() {
		in.stop()
		cancel(nil)
	}
}

// stop restores the default action of signals.
func (in *interrupts) stop() {
	signal.Stop(in.signals)
	signal.Stop(in.pipes)
}

// wait cancels ctx when a signal asks the command to end.
func (in *interrupts) wait(ctx context.Context, cancel context.CancelCauseFunc) {
	var s os.Signal
	for s == nil {
		select {
		case s = <-in.signals:
			if hangup := in.hangup.Load(); s == syscall.SIGHUP && hangup != nil && (*hangup)() {
				s = nil
			}
		case s = <-in.pipes:
			if !outputGone() {
				s = nil
			}
		case <-ctx.Done():
			return
		}
	}
	signal.Ignore(syscall.SIGPIPE) // output to a reader that has gone must not end the cleaning up
	in.stop()
	number, _ := s.(syscall.Signal)
	cancel(&Error{Signal: number})
}

// ReaderGone reports whether an error, or the signal that came of it, says that the reader of our
// output has gone. That is no news to anyone.
func ReaderGone(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Signal == syscall.SIGPIPE
	}
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Path == failure.StandardOutput && errors.Is(err, syscall.EPIPE)
}

// Hangup lets fn decide about SIGHUP: if it returns true, the command goes on.
func Hangup(ctx context.Context, fn func() bool) {
	if in, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		in.hangup.Store(&fn)
	}
}

// LetKill is for commands that leave nothing behind. A signal ends the process at once, even
// while it waits for the reader of its output.
func LetKill(ctx context.Context) {
	if in, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		in.stop()
	}
}

// Of returns the signal that err is about, or that ended ctx, if one did and err comes of it.
// Errors of libraries that a context ends are context.Canceled, or wrap it or the cause: no command
// needs to look for them.
func Of(ctx context.Context, err error) *Error {
	if direct, ok := errors.AsType[*Error](err); ok {
		return direct
	}
	cause, ok := errors.AsType[*Error](context.Cause(ctx))
	if !ok || !errors.Is(err, context.Canceled) {
		return nil
	}
	return cause
}

// ExitCode is the code that shells report for a process that a signal ended.
func (e *Error) ExitCode() int { return 128 + int(e.Signal) }

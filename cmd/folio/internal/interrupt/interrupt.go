// Package interrupt ends a command when a signal asks it to, with time to clean up.
package interrupt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
)

// An Error is the cause that ends the context of a command when a signal asks it to end.
type Error struct{ Signal syscall.Signal }

func (e *Error) Error() string { return "interrupted" }

// interruptsKey is the key of a context's *interrupts.
type interruptsKey struct{}

// An interrupts receives the signals that end a command.
type interrupts struct{ signals chan os.Signal }

// endings are the signals that ask a command to end. SIGPIPE is one of them: the reader of its
// output has gone.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE}

// Context returns a context that the first signal ends. The second one ends the process.
func Context(parent context.Context) (context.Context, func()) {
	in := &interrupts{make(chan os.Signal, 1)}
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, interruptsKey{}, in))
	for _, s := range endings {
		if !signal.Ignored(s) { // as nohup and shells do for background processes
			signal.Notify(in.signals, s)
		}
	}
	go func() {
		select {
		case s := <-in.signals:
			signal.Ignore(syscall.SIGPIPE) // output to a reader that has gone must not end the cleaning up
			signal.Stop(in.signals)
			number, _ := s.(syscall.Signal)
			cancel(&Error{Signal: number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(in.signals)
		cancel(nil)
	}
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

// LetKill is for commands that leave nothing behind. A signal ends the process at once, even
// while it waits for the reader of its output.
func LetKill(ctx context.Context) {
	if in, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		signal.Stop(in.signals)
	}
}

// Of returns the signal that ended ctx, if one did and err comes of it.
func Of(ctx context.Context, err error) *Error {
	cause, ok := errors.AsType[*Error](context.Cause(ctx))
	if !ok || err == nil {
		return nil
	}
	if _, direct := errors.AsType[*Error](err); direct || errors.Is(err, context.Canceled) {
		return cause
	}
	return nil
}

// ExitCode is the code that shells report for a process that a signal ended.
func (e *Error) ExitCode() int { return 128 + int(e.Signal) }

package runner

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is the longest time between two looks at a process.
const lookEvery = time.Second

// afterTimeout returns a channel that is closed when a process has had the time of timeout to work.
// Time in which the process, or all of the laboratory, was stopped (for example by Control-Z) does
// not count. It ends with ctx.
func afterTimeout(ctx context.Context, pid int, timeout time.Duration) <-chan struct{} {
	over := make(chan struct{})
	step := min(max(timeout/100, time.Millisecond), lookEvery)
	go func() {
		tick := time.NewTicker(step) // of the ticks of an hour in which we were stopped there is one left
		defer tick.Stop()
		for left := timeout; left > 0; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if state, ok := observe(pid); !ok || !state.stopped {
					left -= step
				}
			}
		}
		close(over)
	}()
	return over
}

// watch calls kill when a process has had its time. end stops the watch, and reports whether kill
// was called.
func watch(pid int, timeout time.Duration, kill func()) (end func() bool) {
	ctx, stop := context.WithCancel(context.Background())
	over := afterTimeout(ctx, pid, timeout)
	killed := make(chan bool)
	go func() {
		select {
		case <-over:
			kill()
			killed <- true
		case <-ctx.Done():
			killed <- false
		}
	}()
	return func() bool {
		stop()
		return <-killed
	}
}

// A procState is the system's description of a process.
type procState struct {
	stopped bool
	used    time.Duration // processor time
}

// idled describes a process that did not reply.
func idled(what string, pid int, timeout time.Duration) error {
	if state, ok := observe(pid); ok {
		return fmt.Errorf("%s within %v; it has used %v of processor time", what, timeout, state.used)
	}
	return fmt.Errorf("%s within %v", what, timeout)
}

package runner

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is how often is looked at a process that others wait for, at least.
const lookEvery = time.Second

// patience returns a channel that is closed when a process has had so much time in which it could work. Time in which it was stopped, or in which all of
// us were, as by Control-Z, is none. It ends with ctx.
func patience(ctx context.Context, pid int, timeout time.Duration) <-chan struct{} {
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

// watch calls kill when a process has had its time. What it returns ends that, and tells whether it came about.
func watch(pid int, timeout time.Duration, kill func()) (end func() bool) {
	ctx, stop := context.WithCancel(context.Background())
	over := patience(ctx, pid, timeout)
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

// A procState is what the system tells of a process.
type procState struct {
	stopped bool
	used    time.Duration // processor time
}

// idled says what was seen of a process that has said nothing.
func idled(what string, pid int, timeout time.Duration) error {
	if state, ok := observe(pid); ok {
		return fmt.Errorf("%s within %v; it has used %v of processor time", what, timeout, state.used)
	}
	return fmt.Errorf("%s within %v", what, timeout)
}

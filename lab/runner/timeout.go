package runner

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is the longest time between two looks at a process.
const lookEvery = time.Second

// watch calls over when a process has had the time of timeout to work. Time in which the process,
// or all of the laboratory, was stopped (for example by Control-Z) does not count. end stops the
// watch, and reports whether over was called.
func watch(pid int, timeout time.Duration, over func()) (end func() bool) {
	ctx, stop := context.WithCancel(context.Background())
	called := make(chan bool, 1)
	step := min(max(timeout/100, time.Millisecond), lookEvery)
	go func() {
		tick := time.NewTicker(step) // of the ticks of an hour in which we were stopped there is one left
		defer tick.Stop()
		for left := timeout; left > 0; {
			select {
			case <-ctx.Done():
				called <- false
				return
			case <-tick.C:
				if state, ok := observe(pid); !ok || !state.stopped {
					left -= step
				}
			}
		}
		over()
		called <- true
	}()
	return func() bool {
		stop()
		return <-called
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

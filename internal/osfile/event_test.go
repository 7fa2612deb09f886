package osfile

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// Two threads pass a turn to each other.
func TestEvent(t *testing.T) {
	t.Parallel()
	var turns [2]Event
	var wg sync.WaitGroup
	count := 0
	for i := range turns {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range 20_000 {
				turns[i].Wait()
				count++
				turns[1-i].Set()
			}
		})
	}
	turns[0].Set()
	wg.Wait()
	if count != 40_000 {
		t.Errorf("%d turns, want 40000", count)
	}
}

// A wait that is given up leaves the event as it was.
func TestEventGivenUp(t *testing.T) {
	t.Parallel()
	var e Event
	for range 3 {
		if e.WaitFor(time.Millisecond) {
			t.Fatal("set by nobody")
		}
	}
	go e.Set()
	if !e.WaitFor(time.Minute) {
		t.Error("given up though it was set")
	}
	if e.WaitFor(time.Millisecond) {
		t.Error("set twice")
	}
}

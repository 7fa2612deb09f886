package osfile

import (
	"runtime"
	"sync"
	"testing"
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

package blocked

import (
	"sync"
	"testing"
)

// block waits for a channel.
func block(c chan struct{}) { <-c }

// TestWait waits for a goroutine that waits for a channel.
func TestWait(t *testing.T) {
	t.Parallel()
	c := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { block(c) })
	Wait(t, "TestWait", "blocked.block")
	close(c)
	wg.Wait()
	if waits(stacks(), []string{"TestWait", "blocked.block("}) {
		t.Error("it still waits")
	}
}

// TestWaits finds goroutines in traces of which the states are known.
func TestWaits(t *testing.T) {
	t.Parallel()
	const tail = "\nstore.f(0x1)\n\t/a/b.go:7 +0x1\ncreated by store.TestX in goroutine 1\n\t/a/b_test.go:8 +0x2\n"
	for head, want := range map[string]bool{
		"goroutine 7 [select]:":                  true,
		"goroutine 7 [chan receive, 2 minutes]:": true,
		"goroutine 7 [sync.Mutex.Lock]:":         true,
		"goroutine 7 [running]:":                 false,
		"goroutine 7 [runnable]:":                false,
		"goroutine 7 [syscall]:":                 false,
	} {
		if got := waits([]byte("goroutine 1 [running]:\nmain.main()\n\n"+head+tail), []string{"store.f", "TestX"}); got != want {
			t.Errorf("%s: %v", head, got)
		}
	}
	if waits([]byte("goroutine 7 [select]:"+tail), []string{"store.f", "TestY"}) {
		t.Error("found a goroutine of another test")
	}
}

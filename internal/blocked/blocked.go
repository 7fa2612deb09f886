// Package blocked lets a test wait until one of its goroutines waits for another, so that the test
// need not sleep.
package blocked

import (
	"bytes"
	"runtime"
	"testing"
	"time"
)

// patience is how long Wait waits before it reports an error.
const patience = 30 * time.Second

// Wait returns when some goroutine waits for a channel or a lock in a call of all the named
// functions. A name is a part of the name that a stack trace shows. For example, "TestX" and
// "(*DB).Update" name a goroutine that TestX has started and that waits within Update. After half a
// minute Wait reports an error and returns.
func Wait(t testing.TB, functions ...string) {
	t.Helper()
	for begun := time.Now(); !waits(stacks(), functions); runtime.Gosched() {
		if time.Since(begun) > patience {
			t.Errorf("no goroutine waits in %q", functions)
			return
		}
	}
}

// stacks returns the stack traces of all goroutines.
func stacks() []byte {
	for n := 1 << 16; ; n *= 2 {
		b := make([]byte, n)
		if got := runtime.Stack(b, true); got < n {
			return b[:got]
		}
	}
}

// waits reports whether traces has a goroutine that waits in all the named functions.
func waits(traces []byte, functions []string) bool {
	for trace := range bytes.SplitSeq(traces, []byte("\n\n")) {
		head, calls, _ := bytes.Cut(trace, []byte("\n"))
		if !waiting(head) {
			continue
		}
		in := true
		for _, f := range functions {
			in = in && bytes.Contains(calls, []byte(f))
		}
		if in {
			return true
		}
	}
	return false
}

// waiting reports whether the head of a trace, such as "goroutine 7 [select]:", belongs to a
// goroutine that waits for a channel or a lock.
func waiting(head []byte) bool {
	_, state, _ := bytes.Cut(head, []byte("["))
	for _, w := range []string{"chan receive", "chan send", "select", "sync.", "semacquire"} {
		if bytes.HasPrefix(state, []byte(w)) {
			return true
		}
	}
	return false
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import "testing"

// TestSender adds a target while the kernel is being made to forget it, and another one. The other
// one must not wait, and the first one must be sent once more, with all that was asked for.
func TestSender(t *testing.T) {
	type call struct {
		target
		content bool
		tries   int
	}
	calls, answer := make(chan call), make(chan struct{})
	var s notifyQueue
	s.send = func(of target, content bool, tries int) {
		calls <- call{of, content, tries}
		if of.ino == 1 {
			<-answer
		}
	}
	first, other := target{ino: 1}, target{2, "name", true}
	next := func(want call) {
		t.Helper()
		if got := <-calls; got != want {
			t.Errorf("sent %+v, want %+v", got, want)
		}
	}
	s.add(first, false, 3)
	next(call{first, false, 3})
	s.add(first, true, 2)
	s.add(first, false, 1)
	s.add(other, false, 0)
	next(call{other, false, 0})
	answer <- struct{}{}
	next(call{first, true, 1})
	answer <- struct{}{}
}

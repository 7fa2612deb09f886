package lease

import "testing"

// TestYieldIsNoReader looks at a lease while it is asked whether some connection waits: that does
// not count as a reader, and the lease ends only afterwards.
func TestYieldIsNoReader(t *testing.T) {
	t.Parallel()
	dropped := false
	l := New(0, func() { dropped = true })
	l.Leave()
	l.yield(func() bool {
		if n := l.Readers(); n != 0 {
			t.Errorf("%d readers", n)
		}
		l.Retire()
		if !l.Unused() {
			t.Error("a lease without readers is in use")
		}
		if dropped {
			t.Error("the lock was dropped while it was looked at")
		}
		return true
	})
	if !dropped {
		t.Error("the lease did not end")
	}
	l.yield(func() bool {
		t.Error("the lease has ended")
		return true
	})
}

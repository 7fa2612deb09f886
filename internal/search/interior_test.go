package search

import (
	"sync/atomic"
	"testing"
)

// TestInteriorOrders lets two searches that met the same page take its room and keep it, in each
// order: the room is counted once, and both go on with the same branch.
func TestInteriorOrders(t *testing.T) {
	t.Parallel()
	const size = 1000
	for _, order := range [][]int{{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}} {
		s := new(interior)
		var slot atomic.Pointer[branch]
		var got [2]*branch
		took := [2]bool{}
		for _, i := range order {
			if !took[i] {
				took[i] = s.take(size)
			} else {
				got[i] = s.keep(&slot, new(branch), size)
			}
		}
		if n := s.bytes.Load(); n != size || got[0] == nil || got[0] != got[1] {
			t.Errorf("order %v: %d bytes for one branch of %d, branches %p and %p", order, n, size, got[0], got[1])
		}
	}
}

// TestInteriorFull checks that an interior cache without room counts nothing more.
func TestInteriorFull(t *testing.T) {
	t.Parallel()
	s := new(interior)
	s.bytes.Store(maxInterior - 10)
	if s.take(11) || !s.take(10) || s.take(1) || s.bytes.Load() != maxInterior {
		t.Errorf("%d bytes of %d", s.bytes.Load(), maxInterior)
	}
}

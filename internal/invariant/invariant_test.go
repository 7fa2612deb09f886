package invariant_test

import (
	"testing"

	"github.com/foliofs/folio/internal/invariant"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, ok := range []bool{true, false} {
		var want any
		if invariant.Enabled && !ok {
			want = "invariant: page 7: bad"
		}
		if got := panicOf(func() { invariant.Check(ok, "page %d: bad", 7) }); got != want {
			t.Errorf("Check(%v) panicked with %v, want %v", ok, got, want)
		}
	}
}

func TestCheckDisabledCostsNothing(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks are compiled in")
	}
	page := 7
	if n := testing.AllocsPerRun(100, func() { invariant.Check(page > 7, "page %d", page) }); n != 0 {
		t.Errorf("a check that is compiled out allocates %v times", n)
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

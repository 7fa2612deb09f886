package inoset_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/foliofs/folio/internal/inoset"
)

func TestSet(t *testing.T) {
	var s inoset.Set
	want := make(map[uint64]bool)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		ino := random.Uint64N(50_000)
		if i%10 == 0 {
			ino = math.MaxUint64 - random.Uint64N(100)<<20
		}
		if s.Has(ino) != want[ino] {
			t.Fatalf("Has(%d): %v", ino, !want[ino])
		}
		if added := s.Add(ino); added == want[ino] {
			t.Fatalf("Add(%d): %v, and it was in the set: %v", ino, added, want[ino])
		}
		want[ino] = true
	}
}

// TestMemory checks that a walk of a large volume needs little memory for its Set.
func TestMemory(t *testing.T) {
	const n = 1_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var s inoset.Set
	for i := range uint64(n) {
		s.Add(i)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > n/4 {
		t.Errorf("%d numbers took %d bytes", n, used)
	}
	runtime.KeepAlive(&s)
}

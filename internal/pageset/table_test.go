package pageset

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPageTable does the same to a Table[int] as to a map.
func TestPageTable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		spread := []uint32{100, 5_000, 1 << 20, 1<<32 - 2}[seed%4]
		var table Table[int]
		want := make(map[uint32]*int)
		for range 20_000 {
			pgno := 1 + r.Uint32N(spread)
			if len(want) > 0 && r.IntN(3) == 0 { // an existing page
				for pgno = range want {
					break
				}
			}
			switch n := r.IntN(1000); {
			case n < 600:
				p := new(int)
				table.Put(pgno, p)
				want[pgno] = p
			case n < 999:
				table.Drop(pgno)
				delete(want, pgno)
			default:
				table.Clear()
				clear(want)
			}
			if table.Get(pgno) != want[pgno] || table.Count != len(want) {
				t.Fatalf("seed %d: page %d: %p, want %p; %d pages, want %d", seed, pgno, table.Get(pgno), want[pgno], table.Count, len(want))
			}
		}
		var order []uint32
		for pgno, p := range table.All() {
			if order = append(order, pgno); p != want[pgno] {
				t.Fatalf("seed %d: page %d: %p, want %p", seed, pgno, p, want[pgno])
			}
		}
		if !slices.Equal(order, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("seed %d: %d pages in order, want %d", seed, len(order), len(want))
		}
		for pgno := range want {
			table.Drop(pgno)
		}
		if table.Count != 0 {
			t.Errorf("seed %d: an empty table has %d pages", seed, table.Count)
		}
		for _, b := range table.branches {
			if b != nil && *b != (tableBranch[int]{}) {
				t.Errorf("seed %d: an empty table has leaves", seed)
			}
		}
	}
}

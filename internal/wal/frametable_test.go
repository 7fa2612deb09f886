package wal

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// TestFrameTable asks for pages of a log that grows, at its end and at states before, from several
// goroutines.
func TestFrameTable(t *testing.T) {
	t.Parallel()
	const frames, pages = 20_000, 6_000
	x := NewHeapIndex()
	r := rand.New(rand.NewPCG(1, 2))
	history := make([][]uint32, pages+1) // the frames of each page
	for frame := uint32(1); frame <= frames; frame++ {
		pgno := uint32(1 + r.IntN(pages))
		if r.IntN(2) == 0 {
			pgno = 7 // which each transaction changes
		}
		if err := x.add(frame, pgno); err != nil {
			t.Fatal(err)
		}
		history[pgno] = append(history[pgno], frame)
	}
	table := newFrameTable([2]uint32{1, 2})
	var wg sync.WaitGroup
	for seed := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 3))
			for last := uint32(1); last <= frames; last += uint32(r.IntN(40)) {
				pgno := uint32(1 + r.IntN(pages))
				want := uint32(0)
				for _, frame := range history[pgno] {
					if frame <= last {
						want = frame
					}
				}
				if got, err := table.Find(x, pgno, last); got != want || err != nil {
					t.Errorf("page %d up to frame %d: %d, %v, want %d", pgno, last, got, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestFrameTableBegins goes from one state of a log to another.
func TestFrameTableBegins(t *testing.T) {
	t.Parallel()
	before := format.WALIndexHeader{Salt: [2]uint32{1, 2}, MaxFrame: 20, Change: 5}
	for name, test := range map[string]struct {
		change func(h *format.WALIndexHeader)
		same   bool
	}{
		"a commit":                     {func(h *format.WALIndexHeader) { h.MaxFrame, h.Change = 25, 6 }, true},
		"nothing":                      {func(*format.WALIndexHeader) {}, true},
		"the log began anew":           {func(h *format.WALIndexHeader) { h.Salt[0]++ }, false},
		"recovered":                    {func(h *format.WALIndexHeader) { h.Change = 0 }, false},
		"recovered from a shorter log": {func(h *format.WALIndexHeader) { h.MaxFrame = 10 }, false},
	} {
		w, after := new(Log), before
		table := w.FrameTable(&before)
		table.last.Store(20)
		test.change(&after)
		if got := w.FrameTable(&after) == table; got != test.same {
			t.Errorf("%s: the same table is %v, want %v", name, got, test.same)
		}
	}
}

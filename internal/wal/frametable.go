package wal

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/invariant"
)

// A FrameTable says of each page in the log which frame has it last, as far as readers of this
// process have asked. The index says so too, but each page adds an entry to its chain there each
// time it is written. And a reader that looks for a page that is not in the log must pass all
// chains that begin before its own ends.
//
// A table is for one run of the log, from its beginning until it begins again, and for committed
// frames: these do not change while any transaction reads in the log. Safe for concurrent use;
// looking up takes no lock.
type FrameTable struct {
	salt   [2]uint32 // of the log
	change uint32    // of the index that it was last used with

	last  atomic.Uint32 // frames up to here are in it
	slots atomic.Pointer[[]atomic.Uint64]

	mu   sync.Mutex // held by the goroutine that adds frames
	used int        // slots
}

// A slot of a frameTable holds a page in its upper half and its last frame in the lower, 0 for
// none. Slots of pages with the same hash follow each other, and at least half of all are empty.
const leastFrameSlots = 1 << 10

func newFrameTable(salt [2]uint32) *FrameTable {
	t := &FrameTable{salt: salt}
	slots := make([]atomic.Uint64, leastFrameSlots)
	t.slots.Store(&slots)
	return t
}

// mostTableFrames is how long a log may be for its table to take memory: 4 MiB then, at the most.
const mostTableFrames = 1 << 18

// Find returns the last frame up to last with a page, or 0. The frame called last is committed.
func (t *FrameTable) Find(x *Index, pgno, last uint32) (frame uint32, err error) {
	if last > mostTableFrames {
		return x.Find(pgno, last)
	}
	if t.last.Load() < last {
		if err := t.extend(x, last); err != nil {
			return 0, err
		}
	}
	if frame = t.get(pgno); frame > last || t.last.Load() < last { // it was written again since, or the index is not whole
		return x.Find(pgno, last)
	}
	if invariant.Enabled && x.heap != nil { // only this connection recovers it or cuts it off
		want, err := x.Find(pgno, last)
		invariant.Check(err != nil || want == frame, "page %d is in frame %d, not %d", pgno, want, frame)
	}
	return frame, nil
}

// extend adds the frames up to last, or up to a frame of no page: then another connection is
// remaking the index, or has cut it off.
func (t *FrameTable) extend(x *Index, last uint32) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for frame := t.last.Load() + 1; frame <= last; frame++ {
		pgno, err := x.page(frame)
		if err != nil || pgno == 0 {
			return err
		}
		t.put(pgno, frame)
		t.last.Store(frame)
	}
	return nil
}

// get returns the last frame of a page, or 0.
func (t *FrameTable) get(pgno uint32) uint32 {
	slots := *t.slots.Load()
	for i := frameSlot(pgno, len(slots)); ; i = (i + 1) & (len(slots) - 1) {
		v := slots[i].Load()
		if uint32(v>>32) == pgno || v == 0 {
			return uint32(v)
		}
	}
}

// put sets the last frame of a page. The caller must hold mu.
func (t *FrameTable) put(pgno, frame uint32) {
	slots := *t.slots.Load()
	if 2*t.used >= len(slots) {
		slots = t.grow(slots)
	}
	if set(slots, uint64(pgno)<<32|uint64(frame)) {
		t.used++
	}
}

// grow moves to twice as many slots. A reader that still looks at the old slots finds their old
// content.
func (t *FrameTable) grow(old []atomic.Uint64) []atomic.Uint64 {
	slots := make([]atomic.Uint64, 2*len(old))
	for i := range old {
		if v := old[i].Load(); v != 0 {
			set(slots, v)
		}
	}
	t.slots.Store(&slots)
	return slots
}

// set puts v into the slot of its page, and reports whether it was empty.
func set(slots []atomic.Uint64, v uint64) (added bool) {
	pgno := uint32(v >> 32)
	for i := frameSlot(pgno, len(slots)); ; i = (i + 1) & (len(slots) - 1) {
		if had := slots[i].Load(); had == 0 || uint32(had>>32) == pgno {
			slots[i].Store(v)
			return had == 0
		}
	}
}

// frameSlot returns where to begin to look for a page among n slots.
func frameSlot(pgno uint32, n int) int {
	return int(pgno * 0x9e3779b1 >> (33 - bits.Len32(uint32(n))))
}

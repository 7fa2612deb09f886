package chain

import (
	"math/bits"
	"sync/atomic"
)

// Runs remembers of the chains of overflow pages of one snapshot how far their pages follow each
// other in the file. A reader that reads in the middle of a long value again need not pass all
// pages before. It is safe for concurrent use, without locks.
//
// Several chains share one slot; the last one wins. There are no slots before many readers had a
// long way.
type Runs struct {
	walks atomic.Uint32
	slots atomic.Pointer[[runSlots]atomic.Uint64] // the first page above, below how many pages after it are next to each other
}

const (
	runSlots = 1 << 15
	runWalks = 128 // long ways, before slots are worth their memory
	LongRun  = 2   // pages to pass, from which on it is a long way
)

// runSlot spreads chains that begin at equal distances.
func runSlot(first uint32) uint32 {
	return first * 0x9e3779b1 >> (32 - bits.Len32(runSlots-1))
}

// Length returns how many pages after the first of a chain are known to follow it one by one.
func (r *Runs) Length(first uint32) uint64 {
	slots := r.slots.Load()
	if slots == nil {
		return 0
	}
	v := slots[runSlot(first)].Load()
	if uint32(v>>32) != first {
		return 0
	}
	return uint64(uint32(v))
}

// Keep remembers that the n pages after the first of a chain follow it one by one.
func (r *Runs) Keep(first uint32, n uint64) {
	if r.Length(first) >= n {
		return
	}
	slots := r.slots.Load()
	if slots == nil {
		if r.walks.Add(1) < runWalks {
			return
		}
		slots = new([runSlots]atomic.Uint64)
		if !r.slots.CompareAndSwap(nil, slots) {
			slots = r.slots.Load()
		}
	}
	slots[runSlot(first)].Store(uint64(first)<<32 | min(n, 1<<32-1))
}

// Filled reports whether anything can be remembered yet.
func (r *Runs) Filled() bool { return r.slots.Load() != nil }

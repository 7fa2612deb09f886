package chain

import (
	"math/bits"
	"sync/atomic"
)

// An Extent is where in the file a long value lies, as far as its overflow pages follow each other.
// It is immutable.
type Extent struct {
	Root   uint32 // of the table
	Column int
	Rowid  int64
	First  uint32 // overflow page
	Start  int64  // of the value, from the first byte of the chain; less than 0 if it begins in the cell
	End    int64  // bytes of the value: up to here
}

// Extents remembers where values of one snapshot lie. A reader that reads in the middle of a long
// value again need not search the b-tree for it. It is safe for concurrent use, without locks.
//
// Several values share one slot; the last one wins. There are no slots before Runs has some.
type Extents struct {
	slots atomic.Pointer[[runSlots]atomic.Pointer[Extent]]
}

func extentSlot(rowid int64) uint64 {
	return uint64(rowid) * 0x9e3779b97f4a7c15 >> (64 - bits.Len64(runSlots-1))
}

// Find returns the extent of a value if it has n bytes from off on.
func (x *Extents) Find(root uint32, rowid int64, column int, off int64, n int) *Extent {
	slots := x.slots.Load()
	if slots == nil {
		return nil
	}
	e := slots[extentSlot(rowid)].Load()
	if e == nil || e.Rowid != rowid || e.Root != root || e.Column != column || off < 0 || off+e.Start < 0 || off > e.End-int64(n) {
		return nil
	}
	return e
}

// Learn remembers an extent, unless it is shorter than the known one.
func (x *Extents) Learn(e Extent) {
	slots := x.slots.Load()
	if slots == nil {
		slots = new([runSlots]atomic.Pointer[Extent])
		if !x.slots.CompareAndSwap(nil, slots) {
			slots = x.slots.Load()
		}
	}
	slot := &slots[extentSlot(e.Rowid)]
	if old := slot.Load(); old == nil || old.Rowid != e.Rowid || old.Root != e.Root || old.Column != e.Column || old.End < e.End {
		kept := e
		slot.Store(&kept)
	}
}

// Filled reports whether anything can be remembered yet.
func (x *Extents) Filled() bool { return x.slots.Load() != nil }

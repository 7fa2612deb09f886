package sqlitefile

import (
	"math/bits"
	"sync/atomic"
)

// An extent is where in the file a long value lies, as far as its overflow pages follow each other. It is immutable.
type extent struct {
	root   uint32 // of the table
	column int
	rowid  int64
	first  uint32 // overflow page
	start  int64  // of the value, from the first byte of the chain; less than 0 if it begins in the cell
	end    int64  // bytes of the value: up to here
}

// extents remembers where values of one snapshot lie, so that whoever reads in the middle of a long value again need not search the b-tree for
// it. It is safe for concurrent use, without locks.
//
// A value has one slot, which it shares with others; the last one wins. There are none before straightRuns has some.
type extents struct {
	slots atomic.Pointer[[runSlots]atomic.Pointer[extent]]
}

func extentSlot(rowid int64) uint64 {
	return uint64(rowid) * 0x9e3779b97f4a7c15 >> (64 - bits.Len64(runSlots-1))
}

// find returns the extent of a value if it has n bytes from off on.
func (x *extents) find(root uint32, rowid int64, column int, off int64, n int) *extent {
	slots := x.slots.Load()
	if slots == nil {
		return nil
	}
	e := slots[extentSlot(rowid)].Load()
	if e == nil || e.rowid != rowid || e.root != root || e.column != column || off < 0 || off+e.start < 0 || off > e.end-int64(n) {
		return nil
	}
	return e
}

// learn remembers an extent, unless it is shorter than what is known.
func (x *extents) learn(e extent) {
	slots := x.slots.Load()
	if slots == nil {
		slots = new([runSlots]atomic.Pointer[extent])
		if !x.slots.CompareAndSwap(nil, slots) {
			slots = x.slots.Load()
		}
	}
	slot := &slots[extentSlot(e.rowid)]
	if old := slot.Load(); old == nil || old.rowid != e.rowid || old.root != e.root || old.column != e.column || old.end < e.end {
		kept := e
		slot.Store(&kept)
	}
}

// ReadAt reads len(p) bytes of a text or BLOB column from offset off on, as ReadAt of the row with the given rowid does, if there is one. It is
// for long values: where they lie is remembered.
func (t Table) ReadAt(rowid int64, column int, p []byte, off int64) (n int, ok bool, err error) {
	rx := t.rx
	if rx.changed == nil { // in a write transaction values move
		if e := rx.cache.extents.find(t.def.root, rowid, column, off, len(p)); e != nil {
			return len(p), true, rx.extentAt(e, p, uint64(off+e.start))
		}
	}
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return 0, false, err
	}
	n, err = row.ReadAt(column, p, off)
	if row.rec.overflow != 0 && rx.changed == nil {
		rx.learn(t.def.root, &row, column)
	}
	return n, true, err
}

// extentAt fills p from an extent, off bytes from the start of its chain.
func (rx *Rx) extentAt(e *extent, p []byte, off uint64) error {
	room := uint64(rx.usable - 4)
	for pgno := e.first + uint32(off/room); ; pgno++ {
		page, err := rx.page(pgno)
		if err != nil {
			return err
		}
		n := copyFar(p, page[4+off%room:])
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		off += uint64(n)
	}
}

// learn remembers where a value lies, as far as somebody has passed its chain and found it straight.
func (rx *Rx) learn(root uint32, row *Row, column int) {
	run := rx.cache.runs.length(row.rec.overflow)
	if run == 0 {
		return
	}
	size, at, dflt, err := row.blob(column)
	if err != nil || dflt != nil {
		return
	}
	start := int64(at) - int64(len(row.rec.local))
	end := min(size, int64(run+1)*int64(rx.usable-4)-start)
	rx.cache.extents.learn(extent{root: root, column: column, rowid: row.rowid, first: row.rec.overflow, start: start, end: end})
}

package wal

import (
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// Find returns the last frame up to last that holds page pgno, or 0.
func (x *Index) Find(pgno, last uint32) (uint32, error) {
	if last == 0 {
		return 0, nil
	}
	for i := format.WALIndexBlock(last); i >= 0; i-- {
		b, err := x.block(i)
		if err != nil {
			return 0, err
		}
		if b == nil {
			return 0, x.short()
		}
		if frame := findInBlock(b, i, x.hinted(b, i, pgno, last), pgno, last); frame != 0 {
			return frame, nil
		}
	}
	return 0, nil
}

func (x *Index) short() error {
	return dberr.Corrupt(x.File.Name(), 0, "it ends before the log does")
}

// walIndexHints is how many pages this process remembers an entry of: chains get long where a page
// is written again and again.
const walIndexHints = 1 << 10

// A hint is a slot in its low bits, and the number of the block and one above them.
const hintSlots = 1 << 13

// hinted returns the slot of an entry of a page for a frame up to last, where to begin to follow
// its chain (X6); else its hash.
func (x *Index) hinted(b []uint32, i int, pgno, last uint32) int {
	hash := format.WALIndexHash(pgno)
	hint := x.hints[pgno%walIndexHints].Load()
	if hint/hintSlots != uint32(i)+1 {
		return hash
	}
	first := format.WALIndexFirst(i)
	slot := int(hint % hintSlots)
	for n := 0; n < hintSteps && slot != hash; n++ {
		position := format.WALIndexSlot(atomic.LoadUint32(&b[format.WALIndexSlotWord(slot)]), slot)
		if position == 0 {
			return hash // the hint is of a log before this one
		}
		frame := first + uint32(position) - 1
		word := format.WALIndexPageWord(first) + int(position) - 1
		ours := word < format.WALIndexSlotWord(0) && atomic.LoadUint32(&b[word]) == pgno
		switch {
		case ours && frame <= last:
			return slot
		case n == 0 && !ours:
			return hash // of another page
		}
		slot = format.PreviousWALIndexSlot(slot) // whose snapshot is older looks further back
	}
	return hash
}

// hintSteps is how far a chain is followed backwards.
const hintSteps = 64

// hint remembers an entry.
func (x *Index) hint(i int, pgno uint32, slot int) {
	x.hints[pgno%walIndexHints].Store(uint32(i+1)*hintSlots + uint32(slot))
}

// findInBlock follows the chain of a page from a slot on. A later slot of the chain is a later
// frame.
func findInBlock(b []uint32, i, slot int, pgno, last uint32) (found uint32) {
	first := format.WALIndexFirst(i)
	base := format.WALIndexPageWord(first)
	for range format.WALIndexBlockWords { // no chain is longer, however damaged
		position := format.WALIndexSlot(atomic.LoadUint32(&b[format.WALIndexSlotWord(slot)]), slot)
		if position == 0 {
			return found
		}
		frame := first + uint32(position) - 1
		if word := base + int(position) - 1; frame <= last && word < format.WALIndexSlotWord(0) && atomic.LoadUint32(&b[word]) == pgno {
			found = frame
		}
		slot = format.NextWALIndexSlot(slot)
	}
	return found
}

// page returns the page that an entry names.
func (x *Index) page(frame uint32) (uint32, error) {
	b, err := x.block(format.WALIndexBlock(frame))
	if err != nil {
		return 0, err
	}
	if b == nil {
		return 0, x.short()
	}
	return atomic.LoadUint32(&b[format.WALIndexPageWord(frame)]), nil
}

// add makes the entry of a frame. The caller must hold WRITE, and must add frames in order.
func (x *Index) add(frame, pgno uint32) error {
	i := format.WALIndexBlock(frame)
	b, err := x.Extend(i)
	if err != nil {
		return err
	}
	first := format.WALIndexFirst(i)
	if frame == first {
		clearWords(b[format.WALIndexPageWord(first):])
	}
	word := format.WALIndexPageWord(frame)
	if atomic.LoadUint32(&b[word]) != 0 {
		forgetInBlock(b, i, frame-1) // entries of a writer that died before its commit
	}
	atomic.StoreUint32(&b[word], pgno)
	slot := x.hinted(b, i, pgno, frame-1)
	for range format.WALIndexBlockWords {
		at := format.WALIndexSlotWord(slot)
		w := atomic.LoadUint32(&b[at])
		if format.WALIndexSlot(w, slot) == 0 {
			atomic.StoreUint32(&b[at], format.WithWALIndexSlot(w, slot, uint16(frame-first+1)))
			x.hint(i, pgno, slot)
			return nil
		}
		slot = format.NextWALIndexSlot(slot)
	}
	return dberr.Corrupt(x.File.Name(), 0, "a hash table is full")
}

// Forget removes the entries of frames after last, which a transaction that did not commit has
// left.
func (x *Index) Forget(last uint32) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	b, err := x.block(format.WALIndexBlock(last))
	if b != nil && last != 0 {
		forgetInBlock(b, format.WALIndexBlock(last), last)
	}
	return err
}

// adopt takes over the entries up to frame last of an index that was made apart.
func (x *Index) adopt(from *Index, last uint32) error {
	if last == 0 {
		return nil // the first frame clears its block
	}
	for i := range format.WALIndexBlock(last) + 1 {
		b, err := x.Extend(i)
		if err != nil {
			return err
		}
		made := from.heap.block(i)
		for at := format.WALIndexPageWord(format.WALIndexFirst(i)); at < len(b); at++ {
			if atomic.LoadUint32(&b[at]) != made[at] {
				atomic.StoreUint32(&b[at], made[at])
			}
		}
	}
	return nil
}

func forgetInBlock(b []uint32, i int, last uint32) {
	first := format.WALIndexFirst(i)
	limit := uint16(last - first + 1)
	for slot := range 2 * (format.WALIndexBlockWords - format.WALIndexSlotWord(0)) {
		at := format.WALIndexSlotWord(slot)
		w := atomic.LoadUint32(&b[at])
		if format.WALIndexSlot(w, slot) > limit {
			atomic.StoreUint32(&b[at], format.WithWALIndexSlot(w, slot, 0))
		}
	}
	clearWords(b[format.WALIndexPageWord(last)+1 : format.WALIndexSlotWord(0)])
}

func clearWords(b []uint32) {
	for i := range b {
		atomic.StoreUint32(&b[i], 0)
	}
}

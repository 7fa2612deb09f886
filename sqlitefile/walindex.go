package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A walIndex is the wal-index of a database: the file -shm, mapped, in which all connections to the database, in all processes, find
// the state of the log, who reads how much of it, and in which frame a page was last written. It has no durable content: a lost one
// is made again from the log. One that nobody shares is in the heap, without a file (walindex_heap.go).
//
// Invariants:
//
//	X1  Words are loaded and stored atomically, one by one.
//	X2  The header changes, and entries are added, only by the holder of WRITE; in a recovery also CHECKPOINT and RECOVER are held.
//	X3  Entries of frames beyond the header's MaxFrame mean nothing to readers; those up to it are complete before the header says so.
//	X4  A read mark changes only under its own lock, held exclusively.
//	X5  A block of the map is touched only when the file is known to reach beyond it (size).
//	X6  Whoever follows the chain of a page may begin at any entry of it instead of at its hash: all slots in between are taken, since
//	    entries go from the end of the log only.
//	X7  backfill never counts a frame that is not copied: it goes back before the log begins anew, and whoever takes WRITE sees that it lies within
//	    the log (mend).
//	X8  A recovery gives a word the value that it has already, up to the last frame that any reader can be at: it makes the entries apart, and stores
//	    what differs.
type walIndex struct {
	file  osfile.Handle
	words *osfile.Words
	size  atomic.Int64 // bytes of the file that are known to be there
	heap  *heapBlocks  // in place of all that
	head  []uint32     // block 0

	hints [walIndexHints]atomic.Uint32 // by page: block and slot of an entry of it; zero for none

	mu   sync.Mutex                 // guards held
	held [format.WALReaders + 3]int // by lock byte: how many share it in this process, or -1
}

// walIndexReserve is how much address space the map takes: enough for the index of a log of 8 million frames.
const walIndexReserve = 64 << 20

// openWALIndex opens the wal-index of a database, and joins those who use it. ErrLocked means that
// somebody else is opening it this moment.
func openWALIndex(sys osfile.System, db osfile.Handle) (x *walIndex, err error) {
	file, err := sys.OpenSide(db, "-shm", osfile.ReadWrite|osfile.Create)
	if err != nil {
		return nil, err
	}
	x = &walIndex{file: file}
	if err := x.join(); err != nil {
		return nil, join(err, file.Close())
	}
	if x.words, err = file.MapWords(walIndexReserve); err != nil {
		return nil, join(err, file.Unlock(format.WALOpenLock, 1), file.Close())
	}
	x.head = x.words.Shared[:format.WALIndexBlockWords]
	if err := x.measure(); err != nil {
		return nil, join(err, x.close())
	}
	return x, nil
}

// join takes the lock that says that the index is in use. Whoever is first cuts off what a crash has left: a length of 3 is no header.
func (x *walIndex) join() error {
	err := x.file.Lock(osfile.Exclusive, format.WALOpenLock, 1)
	switch {
	case err == nil:
		if err := x.file.Truncate(3); err != nil {
			return join(err, x.file.Unlock(format.WALOpenLock, 1))
		}
	case !errors.Is(err, osfile.ErrLocked):
		return err
	}
	err = x.file.Lock(osfile.Shared, format.WALOpenLock, 1)
	return heldBy(err, "opens or closes the database", x.file, osfile.Shared, format.WALOpenLock, 1)
}

// close leaves the index to the others.
func (x *walIndex) close() error {
	if x.heap != nil {
		if x.file != nil {
			return x.file.Close()
		}
		return nil
	}
	return join(x.words.Unmap(), x.file.Unlock(format.WALOpenLock, 1), x.file.Close())
}

// alone reports whether no other connection, of whatever process, has the index open.
func (x *walIndex) alone() (bool, error) {
	if x.heap != nil {
		return true, nil
	}
	locked, err := x.file.Locked(osfile.Exclusive, format.WALOpenLock, 1)
	return !locked, err
}

// measure finds out how large the file is.
func (x *walIndex) measure() error {
	size, err := x.file.Size()
	if err == nil {
		x.size.Store(size)
	}
	return err
}

// block returns a block of the index, or nil if the file does not have it.
func (x *walIndex) block(i int) ([]uint32, error) {
	if x.heap != nil {
		return x.heap.block(i), nil
	}
	end := int64(i+1) * format.WALIndexBlockSize
	if end > x.size.Load() {
		if err := x.measure(); err != nil {
			return nil, err
		}
		if end > x.size.Load() || end > walIndexReserve {
			return nil, nil
		}
	}
	return x.words.Shared[i*format.WALIndexBlockWords : (i+1)*format.WALIndexBlockWords], nil
}

// extend makes the file reach to the end of a block. Every byte of it is written: a hole, be it a part
// of a memory page, would be a fault for whoever touches it when the disk is full. The caller holds WRITE.
func (x *walIndex) extend(i int) ([]uint32, error) {
	b, err := x.block(i)
	if b != nil || err != nil {
		return b, err
	}
	if x.heap != nil {
		return x.heap.extend(i), nil
	}
	if int64(i+1)*format.WALIndexBlockSize > walIndexReserve {
		return nil, &fs.PathError{Op: "write", Path: x.file.Name(), Err: fmt.Errorf("%w: the write-ahead log is too long", ErrFull)}
	}
	size := x.size.Load()
	if _, err := x.file.WriteAt(make([]byte, int64(i+1)*format.WALIndexBlockSize-size), size); err != nil {
		return nil, err
	}
	return x.block(i)
}

// words of the header, all in block 0.

// load reads the header, if there is one: both copies alike, initialized, and with the right checksum.
func (x *walIndex) load() (h format.WALIndexHeader, ok bool, err error) {
	b, err := x.block(0)
	if b == nil {
		return h, false, err
	}
	var first, second format.WALIndexWords
	for i := range first {
		first[i] = atomic.LoadUint32(&b[i])
	}
	for i := range second {
		second[i] = atomic.LoadUint32(&b[format.WALIndexCopyWord+i])
	}
	if first != second {
		return h, false, nil
	}
	h, ok = format.ParseWALIndexHeader(&first)
	return h, ok, nil
}

// same reports whether the header is still the one with these words.
func (x *walIndex) same(w *format.WALIndexWords) bool {
	b := x.head
	for i := range w {
		if atomic.LoadUint32(&b[i]) != w[i] {
			return false
		}
	}
	return true
}

// store publishes a header: the second copy first, so that readers, who load it last, see that they came in between.
func (x *walIndex) store(h *format.WALIndexHeader) error {
	b, err := x.extend(0)
	if err != nil {
		return err
	}
	w := h.Words()
	for i := range w {
		atomic.StoreUint32(&b[format.WALIndexCopyWord+i], w[i])
	}
	for i := range w {
		atomic.StoreUint32(&b[i], w[i])
	}
	return nil
}

// mend puts right what a connection left that died while it held WRITE: the header is the one with these words, which the first copy is; and
// nothing is copied of a log that began anew. The caller holds WRITE.
func (x *walIndex) mend(w *format.WALIndexWords) {
	for i := range w {
		if at := format.WALIndexCopyWord + i; atomic.LoadUint32(&x.head[at]) != w[i] {
			atomic.StoreUint32(&x.head[at], w[i])
		}
	}
	if x.backfill() > w[4] {
		x.setBackfill(0)
	}
}

// backfill returns how many frames are copied into the database.
func (x *walIndex) backfill() uint32 {
	return atomic.LoadUint32(&x.head[format.WALIndexBackfillWord])
}

func (x *walIndex) setBackfill(n uint32) {
	atomic.StoreUint32(&x.head[format.WALIndexBackfillWord], n)
}

func (x *walIndex) setAttempted(n uint32) {
	atomic.StoreUint32(&x.head[format.WALIndexAttemptedWord], n)
}

// mark returns a read mark, 0 to 4.
func (x *walIndex) mark(i int) uint32 {
	return atomic.LoadUint32(&x.head[format.WALIndexReadMarkWord+i])
}

func (x *walIndex) setMark(i int, frame uint32) {
	atomic.StoreUint32(&x.head[format.WALIndexReadMarkWord+i], frame)
}

// indexHolds says what a connection does that holds a lock byte, from WRITE on.
var indexHolds = [format.WALReaders + 3]string{
	"is writing", "makes a checkpoint", "recovers the log", "is reading", "is reading", "is reading", "is reading", "is reading",
}

// moveMark sets a read mark that nobody uses (X4). ErrLocked means that somebody does.
func (x *walIndex) moveMark(i int, frame uint32) error {
	if err := x.lock(osfile.Exclusive, format.WALReadLock+int64(i), 1); err != nil {
		return err
	}
	defer x.unlock(format.WALReadLock+int64(i), 1)
	x.setMark(i, frame)
	return nil
}

// lock takes n of the lock bytes of the index, all or none. The users of this process share one open file, which
// cannot conflict with itself: they are kept apart here.
func (x *walIndex) lock(kind osfile.LockKind, at, n int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	held := x.held[at-format.WALWriteLock : at-format.WALWriteLock+n]
	for i := range held {
		if held[i] < 0 || held[i] > 0 && kind == osfile.Exclusive {
			return errOurselves
		}
	}
	if kind == osfile.Shared && held[0] > 0 {
		held[0]++
		return nil
	}
	if x.locksFile(at) {
		if err := x.file.Lock(kind, at, n); err != nil {
			return heldBy(err, indexHolds[at-format.WALWriteLock], x.file, kind, at, n)
		}
	}
	for i := range held {
		held[i] = 1
		if kind == osfile.Exclusive {
			held[i] = -1
		}
	}
	return nil
}

// unlock gives back what one lock took.
func (x *walIndex) unlock(at, n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	held := x.held[at-format.WALWriteLock : at-format.WALWriteLock+n]
	if held[0] > 1 {
		held[0]--
		return
	}
	clear(held)
	if x.locksFile(at) {
		_ = x.file.Unlock(at, n) // fails only with the file
	}
}

// locksFile reports whether a lock byte is locked in the file, too: each one of a shared index, and
// READ0 where a private index stands in for one (logPrivate).
func (x *walIndex) locksFile(at int64) bool {
	return x.heap == nil || x.file != nil && at == format.WALReadLock
}

// find returns the last frame up to last that holds page pgno, or 0.
func (x *walIndex) find(pgno, last uint32) (uint32, error) {
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

func (x *walIndex) short() error {
	return corruptFile(x.file.Name(), 0, "it ends before the log does")
}

// walIndexHints is how many pages this process remembers an entry of: chains get long where a page is written again and again.
const walIndexHints = 1 << 10

// A hint is a slot in its low bits, and the number of the block and one above them.
const hintSlots = 1 << 13

// hinted returns the slot of an entry of a page for a frame up to last, where to begin to follow its chain (X6); else its hash.
func (x *walIndex) hinted(b []uint32, i int, pgno, last uint32) int {
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
func (x *walIndex) hint(i int, pgno uint32, slot int) {
	x.hints[pgno%walIndexHints].Store(uint32(i+1)*hintSlots + uint32(slot))
}

// findInBlock follows the chain of a page from a slot on. A later slot of the chain is a later frame.
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
func (x *walIndex) page(frame uint32) (uint32, error) {
	b, err := x.block(format.WALIndexBlock(frame))
	if err != nil {
		return 0, err
	}
	if b == nil {
		return 0, x.short()
	}
	return atomic.LoadUint32(&b[format.WALIndexPageWord(frame)]), nil
}

// add makes the entry of a frame. The caller holds WRITE, and adds frames in order.
func (x *walIndex) add(frame, pgno uint32) error {
	i := format.WALIndexBlock(frame)
	b, err := x.extend(i)
	if err != nil {
		return err
	}
	first := format.WALIndexFirst(i)
	if frame == first {
		clearWords(b[format.WALIndexPageWord(first):])
	}
	word := format.WALIndexPageWord(frame)
	if atomic.LoadUint32(&b[word]) != 0 {
		forgetInBlock(b, i, frame-1) // what a writer left that died before its commit
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
	return corruptFile(x.file.Name(), 0, "a hash table is full")
}

// forget removes the entries of frames after last, which a transaction that did not commit has left.
func (x *walIndex) forget(last uint32) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	b, err := x.block(format.WALIndexBlock(last))
	if b != nil && last != 0 {
		forgetInBlock(b, format.WALIndexBlock(last), last)
	}
	return err
}

// adopt takes over the entries up to frame last of an index that was made apart.
func (x *walIndex) adopt(from *walIndex, last uint32) error {
	if last == 0 {
		return nil // the first frame clears its block
	}
	for i := range format.WALIndexBlock(last) + 1 {
		b, err := x.extend(i)
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

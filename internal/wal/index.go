package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// An Index is the wal-index of a database: the file -shm, mapped. All connections to the database,
// in all processes, find three things in it: the state of the log, how much of it each reader
// reads, and in which frame a page was last written. It has no durable content: a lost index is
// made again from the log. An index that is not shared is in the heap, without a file (heap.go).
//
// Invariants:
//
//	X1  Words are loaded and stored atomically, one by one.
//	X2  The header changes, and entries are added, only by the holder of WRITE; in a recovery also
//	    CHECKPOINT and RECOVER are held.
//	X3  Entries of frames beyond the header's MaxFrame mean nothing to readers; those up to it are
//	    complete before the header says so.
//	X4  A read mark changes only under its own lock, held exclusively.
//	X5  A block of the map is touched only when the file is known to reach beyond it (size).
//	X6  A reader that follows the chain of a page may begin at any entry of it instead of at its
//	    hash: all slots in between are taken, since entries go from the end of the log only.
//	X7  backfill never counts a frame that is not copied. It goes back before the log begins again,
//	    and a connection that takes WRITE makes sure that it is within the log (Repair).
//	X8  A recovery gives a word the value that it has already, up to the last frame that any reader
//	    can be at: it makes the entries apart, and stores only the words that differ.
type Index struct {
	File  osfile.Handle
	words indexMap
	size  atomic.Int64 // bytes of the file that are known to be there
	heap  *heapBlocks  // in place of all that
	Head  []uint32     // block 0; nil until words has mapped it

	hints [walIndexHints]atomic.Uint32 // by page: block and slot of an entry of it; zero for none

	mu   sync.Mutex                 // guards held
	held [format.WALReaders + 3]int // by lock byte: how many share it in this process, or -1
}

// OpenIndex opens the wal-index of a database, and joins the connections that use it. ErrLocked
// means that another connection is opening it at this moment.
func OpenIndex(sys osfile.System, db osfile.Handle) (x *Index, err error) {
	file, err := sys.OpenSide(db, "-shm", osfile.ReadWrite|osfile.Create)
	if err != nil {
		return nil, err
	}
	x = &Index{File: file}
	if err := x.join(); err != nil {
		return nil, dberr.Join(err, file.Close())
	}
	if err := x.words.open(file, &x.Head); err != nil {
		return nil, dberr.Join(err, file.Unlock(format.WALOpenLock, 1), file.Close())
	}
	if err := x.measure(); err != nil {
		return nil, dberr.Join(err, x.Close())
	}
	return x, nil
}

// join takes the lock that says that the index is in use. The first connection cuts off the content
// that a crash has left: a length of 3 is no header.
func (x *Index) join() error {
	err := x.File.Lock(osfile.Exclusive, format.WALOpenLock, 1)
	switch {
	case err == nil:
		if err := x.File.Truncate(3); err != nil {
			return dberr.Join(err, x.File.Unlock(format.WALOpenLock, 1))
		}
	case !errors.Is(err, osfile.ErrLocked):
		return err
	}
	err = x.File.Lock(osfile.Shared, format.WALOpenLock, 1)
	return dberr.HeldBy(err, "opens or closes the database", x.File, osfile.Shared, format.WALOpenLock, 1)
}

// Close leaves the index to the other connections.
func (x *Index) Close() error {
	if x.heap != nil {
		if x.File != nil {
			return x.File.Close()
		}
		return nil
	}
	return dberr.Join(x.words.close(), x.File.Unlock(format.WALOpenLock, 1), x.File.Close())
}

// Alone reports whether no other connection, of whatever process, holds the index open.
func (x *Index) Alone() (bool, error) {
	if x.heap != nil {
		return true, nil
	}
	locked, err := x.File.Locked(osfile.Exclusive, format.WALOpenLock, 1)
	return !locked, err
}

// LockAll keeps everybody else from the index, until Leave or Close. ErrLocked means that somebody
// has it open.
func (x *Index) LockAll() error {
	if x.heap != nil {
		return nil
	}
	err := x.File.Lock(osfile.Exclusive, format.WALOpenLock, 1)
	return dberr.HeldBy(err, "has it open", x.File, osfile.Exclusive, format.WALOpenLock, 1)
}

// Leave gives up the lock that says that the index is in use, before Close.
func (x *Index) Leave() {
	if x.heap == nil {
		_ = x.File.Unlock(format.WALOpenLock, 1) // fails only with the file
	}
}

// measure finds out how large the file is.
func (x *Index) measure() error {
	size, err := x.File.Size()
	if err == nil {
		x.size.Store(size)
	}
	return err
}

// block returns a block of the index, or nil if the file does not have it.
func (x *Index) block(i int) ([]uint32, error) {
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
	return x.words.block(i)
}

// Extend makes the file reach to the end of a block (X2). The caller must hold WRITE.
func (x *Index) Extend(i int) ([]uint32, error) {
	b, err := x.block(i)
	if b != nil || err != nil {
		return b, err
	}
	if x.heap != nil {
		return x.heap.extend(i), nil
	}
	if int64(i+1)*format.WALIndexBlockSize > walIndexReserve {
		return nil, &fs.PathError{Op: "write", Path: x.File.Name(), Err: fmt.Errorf("%w: the write-ahead log is too long", dberr.ErrFull)}
	}
	if err := x.grow(int64(i+1) * format.WALIndexBlockSize); err != nil {
		return nil, err
	}
	return x.block(i)
}

// grow makes the file longer. It writes every byte. If the disk is full, a hole, even a part of a
// memory page, would be a fault for a connection that touches it. Where locks forbid to write, the
// system makes no holes.
func (x *Index) grow(end int64) error {
	if osfile.LocksForbidWrites {
		return x.File.Truncate(end)
	}
	size := x.size.Load()
	_, err := x.File.WriteAt(make([]byte, end-size), size)
	return err
}

// words of the header, all in block 0.

// Load reads the header, if there is one: both copies alike, initialized, and with the right
// checksum.
func (x *Index) Load() (h format.WALIndexHeader, ok bool, err error) {
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

// Same reports whether the header is still the one with these words.
func (x *Index) Same(w *format.WALIndexWords) bool {
	b := x.Head
	for i := range w {
		if atomic.LoadUint32(&b[i]) != w[i] {
			return false
		}
	}
	return true
}

// Store publishes a header. It writes the second copy first. Readers load that copy last, and so
// notice a change in between.
func (x *Index) Store(h *format.WALIndexHeader) error {
	b, err := x.Extend(0)
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

// Repair corrects the state that a connection left if it died while it held WRITE. The header
// becomes the one with these words, which the first copy is; and no frame counts as copied of a log
// that began again. The caller must hold WRITE.
func (x *Index) Repair(w *format.WALIndexWords) {
	for i := range w {
		if at := format.WALIndexCopyWord + i; atomic.LoadUint32(&x.Head[at]) != w[i] {
			atomic.StoreUint32(&x.Head[at], w[i])
		}
	}
	if x.Backfill() > w[4] {
		x.setBackfill(0)
	}
}

// Backfill returns how many frames are copied into the database.
func (x *Index) Backfill() uint32 {
	return atomic.LoadUint32(&x.Head[format.WALIndexBackfillWord])
}

func (x *Index) setBackfill(n uint32) {
	atomic.StoreUint32(&x.Head[format.WALIndexBackfillWord], n)
}

func (x *Index) setAttempted(n uint32) {
	atomic.StoreUint32(&x.Head[format.WALIndexAttemptedWord], n)
}

// written returns a sum of the times of the database when it was last written to, as far as that is
// known (belong.go); else 0.
func (x *Index) written() uint32 { return atomic.LoadUint32(&x.Head[format.WALIndexUnusedWord]) }

func (x *Index) setWritten(sum uint32) {
	atomic.StoreUint32(&x.Head[format.WALIndexUnusedWord], sum)
}

// mark returns a read mark, 0 to 4.
func (x *Index) mark(i int) uint32 {
	return atomic.LoadUint32(&x.Head[format.WALIndexReadMarkWord+i])
}

func (x *Index) setMark(i int, frame uint32) {
	atomic.StoreUint32(&x.Head[format.WALIndexReadMarkWord+i], frame)
}

// indexHolds names the activity of a connection that holds a lock byte, from WRITE on.
var indexHolds = [format.WALReaders + 3]string{
	"is writing", "makes a checkpoint", "recovers the log", "is reading", "is reading", "is reading", "is reading", "is reading",
}

// moveMark sets a read mark that no reader uses (X4). ErrLocked means that a reader does.
func (x *Index) moveMark(i int, frame uint32) error {
	if err := x.Lock(osfile.Exclusive, format.WALReadLock+int64(i), 1); err != nil {
		return err
	}
	defer x.Unlock(format.WALReadLock+int64(i), 1)
	x.setMark(i, frame)
	return nil
}

// Lock takes n of the lock bytes of the index, all or none. The users of this process share one
// open file, which cannot conflict with itself: they are kept apart here.
func (x *Index) Lock(kind osfile.LockKind, at, n int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	held := x.held[at-format.WALWriteLock : at-format.WALWriteLock+n]
	for i := range held {
		if held[i] < 0 || held[i] > 0 && kind == osfile.Exclusive {
			return dberr.ErrOurselves
		}
	}
	if kind == osfile.Shared && held[0] > 0 {
		held[0]++
		return nil
	}
	if x.locksFile(at) {
		if err := x.File.Lock(kind, at, n); err != nil {
			return dberr.HeldBy(err, indexHolds[at-format.WALWriteLock], x.File, kind, at, n)
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

// Unlock releases the lock bytes of one call of Lock.
func (x *Index) Unlock(at, n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	held := x.held[at-format.WALWriteLock : at-format.WALWriteLock+n]
	if held[0] > 1 {
		held[0]--
		return
	}
	clear(held)
	if x.locksFile(at) {
		_ = x.File.Unlock(at, n) // fails only with the file
	}
}

// locksFile reports whether a lock byte is locked in the file, too: each one of a shared index, and
// READ0 where a private index stands in for one (logPrivate).
func (x *Index) locksFile(at int64) bool {
	return x.heap == nil || x.File != nil && at == format.WALReadLock
}

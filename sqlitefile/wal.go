package sqlitefile

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A wal is the write-ahead log of a database as this process has it open, with its wal-index.
//
// Invariants, for all connections together:
//
//	W1  Frames are appended, and the header of the index changed, only by the holder of WRITE.
//	W2  A frame is overwritten only after the log began anew, and that only while every frame is copied into the database and nobody holds a
//	    read lock of a mark above 0 (restart).
//	W3  A commit is in the log, and synced where durability asks for it, before the header of the index says so.
//	W4  The first frame after the log began anew is written only after the log's new header, synced.
//	W5  A checkpoint copies only frames that no reader can still need as they were before: up to the lowest mark in use. It syncs the log
//	    before it writes to the database, and the database before it says how far it came.
//	W6  A checkpoint compares the salts with those at its start once it holds READ0, the lock that whoever starts the log anew holds as well: a log
//	    that began anew in between is not copied over the database.
type wal struct {
	sys      osfile.System
	db       osfile.Handle // the database
	name     string        // of the database
	file     osfile.Handle
	index    *walIndex
	pageSize int
	frame    int // bytes of a frame: header and page

	mu       sync.Mutex // guards mapping and retired
	mapping  atomic.Pointer[osfile.Mapping]
	retired  []*osfile.Mapping // superseded by a longer one; unmapped at close, as readers may look at them
	plain    bool
	access   logAccess   // how others are kept from changing what is read
	observer *observer   // of logWatched
	denied   error       // why the log cannot be written; nil if it can
	lost     bool        // its index has to be opened again; guarded by the mutex of the DB
	seen     walHead     // the header that the last scan found
	synced   bool        // each commit is
	named    atomic.Bool // the name of the file is durable, or need not be

	frames *frameTable // of the newest snapshot; guarded by the mutex of the DB

	failed    func(err error)                                 // is told if the directory could not be synced
	recovered func(start time.Time, frames uint32, err error) // is told of each recovery
	lend      func(err error) bool                            // see lendRoom

	// What follows belongs to the holder of WRITE.
	buf    []byte
	length int64  // of the file, when it was last looked at or written
	wait   uint32 // it is not begun anew before it has so many frames, unless it is too long
	hinted uint32 // the system was told to write the frames up to here to disk
}

// walReserve is how much address space the map of a log takes at first; a longer log gets a longer map.
const walReserve = 64 << 20

func newWAL(sys osfile.System, db osfile.Handle, pageSize int, plain bool) *wal {
	w := &wal{sys: sys, db: db, name: db.Name(), pageSize: pageSize, frame: format.FrameHeaderSize + pageSize, plain: plain}
	w.failed, w.recovered = func(error) {}, func(time.Time, uint32, error) {}
	w.lend = func(error) bool { return false }
	return w
}

// openWAL opens the log of a database, and makes it if need be. Sole says that no other connection
// uses it. ErrLocked means to try again.
func openWAL(sys osfile.System, db osfile.Handle, pageSize int, plain, sole bool) (w *wal, err error) {
	w = newWAL(sys, db, pageSize, plain)
	if w.file, err = sys.OpenSide(db, "-wal", osfile.ReadWrite|osfile.Create); err != nil {
		return nil, err
	}
	if sole {
		w.index = newHeapIndex()
		return w, nil
	}
	if w.index, err = openWALIndex(sys, db); err != nil {
		return nil, join(err, w.file.Close())
	}
	return w, nil
}

func (w *wal) close() error {
	err := w.index.close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range append(w.retired, w.mapping.Load()) {
		if m != nil {
			err = join(err, m.Unmap())
		}
	}
	if w.file == nil {
		return err
	}
	return join(err, w.file.Close())
}

// remove deletes the log and its index. The caller holds EXCLUSIVE on the database, and has copied everything.
func (w *wal) remove() error {
	if err := w.sys.Remove(w.name + "-wal"); err != nil {
		return err
	}
	return ignoreMissing(w.sys.Remove(w.name + "-shm"))
}

// state returns the header of the index. If there is none that is valid, the log is recovered first. ErrLocked means that somebody
// else does so, or writes.
func (w *wal) state() (h format.WALIndexHeader, err error) {
	h, ok, err := w.index.load()
	if err != nil || ok {
		return h, w.usable(&h, err)
	}
	if w.access == logJoined {
		return h, w.noHeader()
	}
	if err := w.index.lock(osfile.Exclusive, format.WALWriteLock, 1); err != nil {
		return h, err
	}
	defer w.index.unlock(format.WALWriteLock, 1)
	if h, ok, err = w.index.load(); err != nil || ok {
		return h, w.usable(&h, err)
	}
	start := time.Now()
	h, err = w.recover()
	w.recovered(start, h.MaxFrame, err)
	if err != nil {
		return h, err
	}
	return h, w.usable(&h, nil)
}

// header returns the header of the index to the holder of WRITE, who has found it to be there and whole: now only damage can have changed that.
func (w *wal) header() (format.WALIndexHeader, error) {
	h, ok, err := w.index.load()
	if err == nil && !ok {
		err = corruptFile(w.name+"-shm", 0, "somebody has written over its header")
	}
	return h, err
}

// usable checks what a header asks for.
func (w *wal) usable(h *format.WALIndexHeader, err error) error {
	switch {
	case err != nil:
		return err
	case h.Version != format.WALIndexVersion:
		return fmt.Errorf("%w: wal-index version %d", ErrUnsupported, h.Version)
	case h.MaxFrame > 0 && h.PageSize != w.pageSize:
		return corruptFile(w.file.Name(), 0, fmt.Sprintf("pages of %d bytes, where the database has %d", h.PageSize, w.pageSize))
	}
	return nil
}

// recover makes the index anew from the log. The caller holds WRITE.
func (w *wal) recover() (h format.WALIndexHeader, err error) {
	if err := w.index.lock(osfile.Exclusive, format.WALCheckpointLock, 2); err != nil { // CHECKPOINT and RECOVER
		return h, err
	}
	defer w.index.unlock(format.WALCheckpointLock, 2)
	h = format.WALIndexHeader{Version: format.WALIndexVersion, PageSize: w.pageSize}
	apart := newHeapIndex() // for others read on in the index as it is (X8)
	if err := w.scan(&h, apart); err != nil {
		return h, err
	}
	if err := apart.forget(h.MaxFrame); err != nil {
		return h, err
	}
	if err = w.publish(&h, apart); w.lend(err) {
		err = w.publish(&h, apart)
	}
	return h, err
}

// publish makes what a recovery has found the content of the index. The caller is as that of
// recover.
func (w *wal) publish(h *format.WALIndexHeader, apart *walIndex) error {
	if _, err := w.index.extend(0); err != nil {
		return err // before any word of it is written: on a full disk that would be a fault
	}
	if err := w.index.adopt(apart, h.MaxFrame); err != nil {
		return err
	}
	w.index.setBackfill(0)
	if err := w.index.store(h); err != nil {
		return err
	}
	w.index.setAttempted(h.MaxFrame)
	return w.resetMarks(h.MaxFrame)
}

// resetMarks sets the read marks that nobody holds, as a recovery leaves them.
func (w *wal) resetMarks(last uint32) error {
	w.index.setMark(0, 0)
	for i := 1; i < format.WALReaders; i++ {
		mark := uint32(format.ReadMarkUnused)
		if i == 1 && last > 0 {
			mark = last
		}
		if err := w.index.moveMark(i, mark); err != nil && !errors.Is(err, osfile.ErrLocked) {
			return err
		}
	}
	return nil
}

// A walHead is the first bytes of a log, zeros where it has fewer.
type walHead [format.WALHeaderSize]byte

// readHead reads the header of the log.
func (w *wal) readHead() (b walHead, err error) {
	if w.file == nil {
		return b, nil
	}
	n, err := w.file.ReadAt(b[:], 0)
	clear(b[n:])
	return b, ignoreEOF(err)
}

// scan reads the log from its start as far as it is valid, adds its frames to an index, and lets h say where the last transaction ends.
func (w *wal) scan(h *format.WALIndexHeader, index *walIndex) (err error) {
	if w.seen, err = w.readHead(); err != nil {
		return err
	}
	head, ok := format.ParseWALHeader(w.seen[:])
	if !ok {
		return nil
	}
	if head.Version != format.WALVersion {
		return fmt.Errorf("%w: write-ahead log version %d", ErrUnsupported, head.Version)
	}
	h.BigEndian, h.PageSize, h.Salt, h.Frame = head.BigEndian, head.PageSize, head.Salt, head.Checksum
	return w.follow(h, index.add)
}

// follow reads on behind the last transaction that h knows of, as far as the log is valid, calls
// add with each frame, and lets h say where the last transaction ends.
func (w *wal) follow(h *format.WALIndexHeader, add func(frame, pgno uint32) error) error {
	head := format.WALHeader{BigEndian: h.BigEndian, PageSize: h.PageSize, Salt: h.Salt}
	frame := make([]byte, format.FrameHeaderSize+head.PageSize)
	sum := h.Frame
	for n := h.MaxFrame + 1; ; n++ {
		if _, err := w.file.ReadAt(frame, format.FrameOffset(n, head.PageSize)); err != nil {
			return ignoreEOF(err)
		}
		f, _ := format.ParseFrameHeader(frame)
		if !f.Follows(&head, sum, frame[format.FrameHeaderSize:]) {
			return nil
		}
		if err := add(n, f.Page); err != nil {
			return err
		}
		if sum = f.Checksum; f.Commit != 0 {
			h.MaxFrame, h.PageCount, h.Frame = n, f.Commit, sum
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// page returns the page in a frame: a slice of the map, valid while the caller's read lock keeps the log from beginning anew, or a copy.
func (w *wal) page(frame uint32) ([]byte, error) {
	return w.part(frame, format.FrameHeaderSize, w.pageSize)
}

// part returns n bytes of a frame from offset off on.
func (w *wal) part(frame uint32, off int64, n int) ([]byte, error) {
	at := format.FrameOffset(frame, w.pageSize) + off
	if end := at + int64(n); !w.plain {
		m, err := w.mapped(end)
		if err != nil {
			return nil, err
		}
		if m != nil {
			return m[at:end:end], nil
		}
	}
	p := make([]byte, n)
	_, err := w.file.ReadAt(p, at)
	if errors.Is(err, io.EOF) {
		err = corruptFile(w.file.Name(), 0, fmt.Sprintf("it ends before frame %d does", frame))
	}
	return p, w.observer.unlessChanged(err)
}

// mapped returns a map of the log that reaches to end, or nil if there can be none.
func (w *wal) mapped(end int64) ([]byte, error) {
	if m := w.mapping.Load(); m != nil && int64(len(m.Bytes())) >= end {
		return m.Bytes(), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.mapping.Load()
	if old != nil && int64(len(old.Bytes())) >= end {
		return old.Bytes(), nil
	}
	m, err := w.file.Map(max(2*end, walReserve))
	if err != nil {
		return nil, nil // read without a map
	}
	if old != nil {
		w.retired = append(w.retired, old)
	}
	w.mapping.Store(m)
	return m.Bytes(), nil
}

// A framePage is a page to be appended.
type framePage struct {
	pgno uint32
	data []byte // the whole page
}

// append writes pages as the frames behind t, whose checksum it carries on. If size is not 0 they end a transaction that leaves the
// database with as many pages. The caller holds WRITE and a read lock; the index does not know of the frames yet (X3, W3).
//
// Behind a frame whose checksum is wrong all others are left invalid too, until reseal: else the commit would follow validly on what is written
// over, and a loss of power that keeps the one and not the other would make a transaction of both.
func (w *wal) append(t *logTail, pages []framePage, size uint32, syncStart func(osfile.Handle) error) error {
	h := &t.header
	if t.last == 0 {
		if err := w.begin(h, syncStart); err != nil {
			return err
		}
		t.sum = h.Frame
	}
	head := format.WALHeader{BigEndian: h.BigEndian, PageSize: h.PageSize, Salt: h.Salt}
	need := len(pages) * w.frame
	if cap(w.buf) < need {
		w.buf = make([]byte, need)
	}
	b := w.buf[:need]
	for i, p := range pages {
		f := format.FrameHeader{Page: p.pgno}
		if i == len(pages)-1 {
			f.Commit = size
		}
		at := b[i*w.frame : (i+1)*w.frame]
		copy(at[format.FrameHeaderSize:], p.data)
		if t.broken == 0 {
			f.Seal(&head, t.sum, p.data)
			t.sum = f.Checksum
		}
		f.Put(at)
	}
	at := format.FrameOffset(t.last+1, w.pageSize)
	if need < leastGrowth {
		w.reserve(at + int64(need))
	}
	_, err := w.file.WriteAt(b, at)
	return err
}

// The file grows in steps, by zeros, which are the end of the log to whoever recovers it: the system is quicker to overwrite a page than to make a
// file longer, and quickest where it got its pages by the step. Where each commit is synced the steps are larger, as to sync a file that has
// become longer costs as much again. No zeros come behind what somebody else has written before frames of ours lie over it: a crash may have
// cut off a frame of a lost commit that ended in zeros, and they would bring it back.
const (
	leastGrowth = 64 << 10
	mostGrowth  = 1 << 20
)

var zeros [leastGrowth]byte

// reserve makes the file longer if frames that are to be written would, and it ends as this log has left it. It may fail: nothing relies on it.
func (w *wal) reserve(end int64) {
	if end <= w.length {
		return
	}
	size, err := w.file.Size()
	if err != nil {
		return
	}
	if size != w.length {
		w.length = max(size, end)
		return
	}
	step := int64(leastGrowth)
	if w.synced {
		step = min(max(end, leastGrowth), mostGrowth)
	}
	for to := size + step; w.length < max(to, end); w.length += leastGrowth {
		if _, err := w.file.WriteAt(zeros[:], w.length); err != nil {
			return
		}
	}
}

// begin writes the header of a log that is empty, with the salts that h has got for it, and makes it durable (W4).
func (w *wal) begin(h *format.WALIndexHeader, sync func(osfile.Handle) error) error {
	var b [format.WALHeaderSize]byte
	sequence := uint32(0)
	if _, err := w.file.ReadAt(b[:], 0); err == nil {
		if old, ok := format.ParseWALHeader(b[:]); ok {
			sequence = old.Sequence + 1
		}
	}
	if h.Salt == ([2]uint32{}) {
		h.Salt = [2]uint32{randomWord(), randomWord()}
	}
	head := format.WALHeader{BigEndian: hostOrder(), Version: format.WALVersion, PageSize: w.pageSize, Sequence: sequence, Salt: h.Salt}
	head.Put(b[:])
	h.BigEndian, h.PageSize, h.Frame = head.BigEndian, head.PageSize, head.Checksum
	if _, err := w.file.WriteAt(b[:], 0); err != nil {
		return err
	}
	return w.syncBy(sync)
}

// syncBy syncs the log, and the first time its name as well: without that, a crash loses all commits, and what a checkpoint that was
// cut off needs.
func (w *wal) syncBy(sync func(osfile.Handle) error) error {
	if err := sync(w.file); err != nil || w.named.Load() {
		return err
	}
	if err := w.sys.SyncDir(w.name + "-wal"); err != nil {
		w.failed(err)
		return err
	}
	w.named.Store(true)
	return nil
}

func hostOrder() bool { return binary.NativeEndian.Uint16([]byte{0, 1}) == 1 }

func randomWord() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:])
}

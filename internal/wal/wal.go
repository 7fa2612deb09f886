package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A Log is the write-ahead log of a database as this process has it open, with its wal-index.
//
// Invariants, for all connections together:
//
//	W1  Frames are appended, and the header of the index changed, only by the holder of WRITE.
//	W2  A frame is overwritten only after the log began again. The log begins again only while every
//	    frame is copied into the database and no reader holds a read lock of a mark above 0
//	    (Restart).
//	W3  A commit is in the log, and synced if durability asks for it, before the header of the index
//	    says so.
//	W4  The first frame after the log began again is written only after the log's new header,
//	    synced.
//	W5  A checkpoint copies only frames whose pages no reader still needs in an older version: up to
//	    the lowest mark in use. It syncs the log before it writes to the database, and the database
//	    before it says how far it came.
//	W6  A checkpoint compares the salts with those at its start once it holds READ0. A connection
//	    that restarts the log holds that lock, too. So a log that began again in between is not
//	    copied over the database.
//	W7  A commit has happened once the header of the index says so, or once a recovery finds it in the
//	    log. Between the frame of the commit and the header only two things are an error: a sync that
//	    failed, after which nothing is written (ErrFailed), and a file that has lost its name
//	    (ErrMoved). Nothing after the header is.
type Log struct {
	sys      osfile.System
	db       osfile.Handle // the database
	name     string        // of the database
	File     osfile.Handle
	Index    *Index
	PageSize int
	Frame    int // bytes of a frame: header and page

	mu       sync.Mutex // guards mapping and retired
	mapping  atomic.Pointer[osfile.Mapping]
	retired  []*osfile.Mapping // superseded by a longer one; unmapped at close, as readers may look at them
	plain    bool
	Access   Access      // protects reads from changes by other connections
	Observer *observer   // of logWatched
	Denied   error       // why the log cannot be written; nil if it can
	removed  bool        // Close removes its files
	Lost     bool        // its index must be opened again; guarded by the mutex of the DB
	seen     walHead     // the header that the last scan found
	Synced   bool        // each commit is
	Named    atomic.Bool // the name of the file is durable, or need not be

	home atomic.Pointer[home] // nil before the log was found to belong to the file

	frames *FrameTable // of the newest snapshot; guarded by the mutex of the DB

	Watch *Watch // or nil; does not change once the log is in use

	Failed    func(err error) error                           // is told if the sync of the directory has failed, and adds what that means
	Recovered func(start time.Time, frames uint32, err error) // is told of each recovery
	Lend      func(err error) bool                            // gives a full disk space back, and reports whether it did
	Shrunk    func()                                          // is told when a checkpoint has cut the database file

	// The fields from here on belong to the holder of WRITE.
	buf    []byte
	Length int64  // of the file, when it was last looked at or written
	Tight  bool   // the disk has little room: the file does not grow before it must
	Wait   uint32 // it does not begin again before it has so many frames, unless it is too long
	Hinted uint32 // the system was told to write the frames up to here to disk
}

// walReserve is how much address space the map of a log takes at first: 64 MiB, or 1 MiB where
// addresses have 32 bits. A longer log gets a longer map.
const walReserve = 1 << 20 << (6 * (strconv.IntSize/32 - 1))

func newWAL(sys osfile.System, db osfile.Handle, pageSize int, plain bool) *Log {
	w := &Log{sys: sys, db: db, name: db.Name(), PageSize: pageSize, Frame: format.FrameHeaderSize + pageSize, plain: plain}
	w.Failed, w.Recovered = func(err error) error { return err }, func(time.Time, uint32, error) {}
	w.Lend = func(error) bool { return false }
	return w
}

// Open opens the log of a database, and makes it if need be. Sole says that no other connection
// uses it. ErrLocked means to try again.
func Open(sys osfile.System, db osfile.Handle, pageSize int, plain, sole bool) (w *Log, err error) {
	w = newWAL(sys, db, pageSize, plain)
	if w.File, err = sys.OpenSide(db, "-wal", osfile.ReadWrite|osfile.Create); err != nil {
		return nil, err
	}
	if sole {
		w.Index = NewHeapIndex()
		return w, nil
	}
	if w.Index, err = OpenIndex(sys, db); err != nil {
		return nil, dberr.Join(err, w.File.Close())
	}
	return w, nil
}

func (w *Log) Close() error {
	err := w.Index.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range append(w.retired, w.mapping.Load()) {
		if m != nil {
			err = dberr.Join(err, m.Unmap())
		}
	}
	if w.File == nil {
		return err
	}
	if err = dberr.Join(err, w.File.Close()); err == nil && w.removed {
		err = w.remove()
	}
	return err
}

// Remove deletes the log and its index; on Windows, Close does that, as they must be closed first.
// The caller must hold EXCLUSIVE on the database, until Close, and must have copied everything.
func (w *Log) Remove() error {
	if !osfile.ReplacesOpen { // nor removes what is mapped
		w.removed = true
		return nil
	}
	return w.remove()
}

func (w *Log) remove() error {
	if err := w.sys.Remove(w.name + "-wal"); err != nil {
		return err
	}
	return dberr.IgnoreMissing(w.sys.Remove(w.name + "-shm"))
}

// State returns the header of the index. If there is no valid header, the log is recovered first.
// ErrLocked means that another connection recovers it, or writes.
func (w *Log) State() (h format.WALIndexHeader, err error) {
	h, ok, err := w.Index.Load()
	if err != nil || ok {
		return h, w.usable(&h, err)
	}
	if w.Access == AccessJoined {
		return h, w.noHeader()
	}
	if err := w.Index.Lock(osfile.Exclusive, format.WALWriteLock, 1); err != nil {
		return h, err
	}
	defer w.Index.Unlock(format.WALWriteLock, 1)
	if h, ok, err = w.Index.Load(); err != nil || ok {
		return h, w.usable(&h, err)
	}
	start := time.Now()
	h, err = w.recover()
	w.Recovered(start, h.MaxFrame, err)
	if err != nil {
		return h, err
	}
	return h, w.usable(&h, nil)
}

// Header returns the header of the index to the holder of WRITE. The caller has found it there and
// whole before, so only damage can have changed that.
func (w *Log) Header() (format.WALIndexHeader, error) {
	h, ok, err := w.Index.Load()
	if err == nil && !ok {
		err = dberr.Corrupt(w.name+"-shm", 0, "somebody has written over its header")
	}
	return h, err
}

// usable checks that this package supports the log of a header.
func (w *Log) usable(h *format.WALIndexHeader, err error) error {
	switch {
	case err != nil:
		return err
	case h.Version != format.WALIndexVersion:
		return fmt.Errorf("%w: wal-index version %d", dberr.ErrUnsupported, h.Version)
	case h.MaxFrame > 0 && h.PageSize != w.PageSize:
		return dberr.Corrupt(w.File.Name(), 0, fmt.Sprintf("pages of %d bytes, where the database has %d", h.PageSize, w.PageSize))
	}
	return nil
}

// recover makes the index again from the log. The caller must hold WRITE.
func (w *Log) recover() (h format.WALIndexHeader, err error) {
	if err := w.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 2); err != nil { // CHECKPOINT and RECOVER
		return h, err
	}
	defer w.Index.Unlock(format.WALCheckpointLock, 2)
	h = format.WALIndexHeader{Version: format.WALIndexVersion, PageSize: w.PageSize}
	apart := NewHeapIndex() // because readers go on in the index as it is (X8)
	if err := w.scan(&h, apart); err != nil {
		return h, err
	}
	if err := apart.Forget(h.MaxFrame); err != nil {
		return h, err
	}
	if err = w.publish(&h, apart); w.Lend(err) {
		err = w.publish(&h, apart)
	}
	return h, err
}

// publish stores the results of a recovery in the index. The caller must hold the same locks as
// recover.
func (w *Log) publish(h *format.WALIndexHeader, apart *Index) error {
	if _, err := w.Index.Extend(0); err != nil {
		return err // before any word of it is written: on a full disk that would be a fault
	}
	if err := w.Index.adopt(apart, h.MaxFrame); err != nil {
		return err
	}
	w.Index.setBackfill(0)
	if err := w.Index.Store(h); err != nil {
		return err
	}
	w.Index.setAttempted(h.MaxFrame)
	if err := w.remember(); err != nil {
		return err
	}
	return w.resetMarks(h.MaxFrame)
}

// resetMarks sets the read marks that no reader holds, as a recovery leaves them.
func (w *Log) resetMarks(last uint32) error {
	w.Index.setMark(0, 0)
	for i := 1; i < format.WALReaders; i++ {
		mark := uint32(format.ReadMarkUnused)
		if i == 1 && last > 0 {
			mark = last
		}
		if err := w.Index.moveMark(i, mark); err != nil && !errors.Is(err, osfile.ErrLocked) {
			return err
		}
	}
	return nil
}

// A walHead is the header of a log, or zeros if the log is shorter.
type walHead [format.WALHeaderSize]byte

// readHead reads the header of the log.
func (w *Log) readHead() (b walHead, err error) {
	if w.File == nil {
		return b, nil
	}
	if n, err := w.File.ReadAt(b[:], 0); n < len(b) {
		return walHead{}, dberr.IgnoreEOF(err)
	}
	return b, nil
}

// scan reads the log from its start as far as it is valid, adds its frames to an index, and lets h
// say where the last transaction ends.
func (w *Log) scan(h *format.WALIndexHeader, index *Index) (err error) {
	if w.seen, err = w.readHead(); err != nil {
		return err
	}
	head, ok := format.ParseWALHeader(w.seen[:])
	if !ok {
		return nil
	}
	if head.Version != format.WALVersion {
		return fmt.Errorf("%w: write-ahead log version %d", dberr.ErrUnsupported, head.Version)
	}
	h.BigEndian, h.PageSize, h.Salt, h.Frame = head.BigEndian, head.PageSize, head.Salt, head.Checksum
	return w.follow(h, index.add)
}

// follow reads on behind the last transaction that h knows of, as far as the log is valid, calls
// add with each frame, and lets h say where the last transaction ends.
func (w *Log) follow(h *format.WALIndexHeader, add func(frame, pgno uint32) error) error {
	head := format.WALHeader{BigEndian: h.BigEndian, PageSize: h.PageSize, Salt: h.Salt}
	frame := make([]byte, format.FrameHeaderSize+head.PageSize)
	sum := h.Frame
	for n := h.MaxFrame + 1; ; n++ {
		if _, err := w.File.ReadAt(frame, format.FrameOffset(n, head.PageSize)); err != nil {
			return dberr.IgnoreEOF(err)
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

// Page returns the page in a frame. It is a copy, or a slice of the map, which is valid while the
// caller's read lock keeps the log from beginning again.
func (w *Log) Page(frame uint32) ([]byte, error) {
	return w.part(frame, format.FrameHeaderSize, w.PageSize)
}

// part returns n bytes of a frame from offset off on.
func (w *Log) part(frame uint32, off int64, n int) ([]byte, error) {
	at := format.FrameOffset(frame, w.PageSize) + off
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
	_, err := w.File.ReadAt(p, at)
	if errors.Is(err, io.EOF) {
		err = dberr.Corrupt(w.File.Name(), 0, fmt.Sprintf("it ends before frame %d does", frame))
	}
	return p, w.Observer.UnlessChanged(err)
}

// mapped returns a map of the log that reaches to end, or nil if there can be none.
func (w *Log) mapped(end int64) ([]byte, error) {
	if m := w.mapping.Load(); m != nil && int64(len(m.Bytes())) >= end {
		return m.Bytes(), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.mapping.Load()
	if old != nil && int64(len(old.Bytes())) >= end {
		return old.Bytes(), nil
	}
	m, err := w.File.Map(max(2*end, walReserve))
	if err != nil {
		return nil, nil // read without a map
	}
	if old != nil {
		w.retired = append(w.retired, old)
	}
	w.mapping.Store(m)
	return m.Bytes(), nil
}

// A Page is a page to be appended.
type Page struct {
	Pgno uint32
	Data []byte // the whole page
}

// append writes pages as the frames behind t, whose checksum it carries on. If size is not 0 they
// end a transaction that leaves the database with as many pages. The caller must hold WRITE and a
// read lock; the index does not know of the frames yet (X3, W3).
//
// Behind a frame whose checksum is wrong all later frames are left invalid too, until reseal.
// Otherwise the commit would follow validly on frames that are written over, and a loss of power
// that keeps some of them and not the rest would mix the two transactions.
func (w *Log) append(t *Tail, pages []Page, size uint32, syncStart func(osfile.Handle) error) error {
	h := &t.Header
	if t.Last == 0 {
		if err := w.begin(h, syncStart); err != nil {
			return err
		}
		t.Sum = h.Frame
	}
	head := format.WALHeader{BigEndian: h.BigEndian, PageSize: h.PageSize, Salt: h.Salt}
	need := len(pages) * w.Frame
	if cap(w.buf) < need {
		w.buf = make([]byte, need)
	}
	b := w.buf[:need]
	for i, p := range pages {
		f := format.FrameHeader{Page: p.Pgno}
		if i == len(pages)-1 {
			f.Commit = size
		}
		at := b[i*w.Frame : (i+1)*w.Frame]
		copy(at[format.FrameHeaderSize:], p.Data)
		if t.broken == 0 {
			f.Seal(&head, t.Sum, p.Data)
			t.Sum = f.Checksum
		}
		f.Put(at)
	}
	at := format.FrameOffset(t.Last+1, w.PageSize)
	if need < leastGrowth && !w.Tight {
		w.reserve(at + int64(need))
	}
	_, err := w.File.WriteAt(b, at)
	return err
}

// The file grows in steps, by zeros, which are the end of the log for a recovery. The system
// overwrites a page faster than it makes a file longer, and fastest if it got its pages by the
// step. If each commit is synced the steps are larger, because syncing a longer file takes as long
// again. No zeros come behind frames of another connection before frames of ours lie over them. For
// example, a crash may have cut off a frame of a lost commit that ended in zeros, and our zeros
// would bring it back.
const (
	leastGrowth = 64 << 10
	mostGrowth  = 1 << 20
)

var zeros [leastGrowth]byte

// reserve makes the file longer if frames that must be written would, and it ends as this log has
// left it. It may fail: nothing relies on it.
func (w *Log) reserve(end int64) {
	if end <= w.Length {
		return
	}
	size, err := w.File.Size()
	if err != nil {
		return
	}
	if size != w.Length {
		w.Length = max(size, end)
		return
	}
	step := int64(leastGrowth)
	if w.Synced {
		step = min(max(end, leastGrowth), mostGrowth)
	}
	for to := size + step; w.Length < max(to, end); w.Length += leastGrowth {
		if _, err := w.File.WriteAt(zeros[:], w.Length); err != nil {
			return
		}
	}
}

// begin writes the header of a log that is empty, bound to the database as it is (H1), with the
// first of the salts that h has got for it, and makes it durable (W4).
func (w *Log) begin(h *format.WALIndexHeader, sync func(osfile.Handle) error) error {
	var b [format.WALHeaderSize]byte
	sequence := uint32(0)
	if _, err := w.File.ReadAt(b[:], 0); err == nil {
		if old, ok := format.ParseWALHeader(b[:]); ok {
			sequence = old.Sequence + 1
		}
	}
	if h.Salt == ([2]uint32{}) {
		h.Salt = [2]uint32{RandomWord(), RandomWord()}
	}
	head := format.WALHeader{BigEndian: hostOrder(), Version: format.WALVersion, PageSize: w.PageSize, Sequence: sequence, Salt: h.Salt}
	c, err := ChangeIn(w.db)
	if err != nil {
		return err
	}
	head.Bind(c)
	head.Put(b[:])
	h.BigEndian, h.PageSize, h.Salt, h.Frame = head.BigEndian, head.PageSize, head.Salt, head.Checksum
	if _, err := w.File.WriteAt(b[:], 0); err != nil {
		return err
	}
	return w.SyncBy(sync)
}

// SyncBy syncs the log, and the first time its name as well. Without the name, a crash loses all
// commits, and the frames that an interrupted checkpoint needs.
func (w *Log) SyncBy(sync func(osfile.Handle) error) error {
	if err := sync(w.File); err != nil || w.Named.Load() {
		return err
	}
	err := w.sys.SyncDir(w.name + "-wal")
	if errors.Is(err, osfile.ErrNotOpened) {
		return nil // as in SQLite; the next sync tries again
	}
	if err != nil {
		return w.Failed(err)
	}
	w.Named.Store(true)
	return nil
}

func hostOrder() bool { return binary.NativeEndian.Uint16([]byte{0, 1}) == 1 }

func RandomWord() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:])
}

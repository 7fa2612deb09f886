package wal

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

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
// again. No zeros come behind frames of another connection before frames of ours are over them. For
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

func hostOrder() bool { return binary.NativeEndian.Uint16([]byte{0, 1}) == 1 }

// Publish tells all connections of a commit that follows on the state before.
func (w *Log) Publish(before, h *format.WALIndexHeader, known bool) error {
	if w.Watch == nil {
		return w.Index.Store(h)
	}
	return w.Watch.publish(w.Index, before, h, known)
}

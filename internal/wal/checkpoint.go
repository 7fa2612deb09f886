package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// CopyBack copies frames of the log into the database, as many as no reader stands in the way of,
// and reports how many frames the log has and how many are copied now. sync syncs a file, unless
// durability is Off (W5). The caller must hold CHECKPOINT, and for all modes but Passive also
// WRITE.
func (w *Log) CopyBack(db osfile.Handle, sync func(osfile.Handle) error) (frames, copied uint32, err error) {
	h, ok, err := w.Index.Load()
	if err != nil || !ok {
		return 0, 0, err
	}
	if copied = w.Index.Backfill(); copied > h.MaxFrame {
		copied = 0 // its writer died while the log began again (X7)
	}
	if copied == h.MaxFrame {
		return h.MaxFrame, copied, nil
	}
	safe, err := w.safeFrame(h.MaxFrame)
	if err != nil || safe <= copied {
		return h.MaxFrame, copied, err
	}
	err = w.Index.Lock(osfile.Exclusive, format.WALReadLock, 1)
	if errors.Is(err, osfile.ErrLocked) { // a reader reads the database without the log: the database must not change
		return h.MaxFrame, copied, nil
	}
	if err != nil {
		return h.MaxFrame, copied, err
	}
	defer w.Index.Unlock(format.WALReadLock, 1)
	if live, ok, err := w.Index.Load(); err != nil || !ok || live.Salt != h.Salt {
		return h.MaxFrame, copied, err // W6
	}
	if err := w.copyFrames(db, &h, copied, safe, sync); err != nil {
		return h.MaxFrame, copied, err
	}
	w.Index.setBackfill(safe)
	return h.MaxFrame, safe, nil
}

// safeFrame returns the last frame that can be copied without changing a page under a reader (W5).
// Marks that no reader uses are moved out of the way.
func (w *Log) safeFrame(last uint32) (uint32, error) {
	safe := last
	for i := 1; i < format.WALReaders; i++ {
		mark := w.Index.mark(i)
		if mark >= safe {
			continue
		}
		free := uint32(format.ReadMarkUnused)
		if i == 1 {
			free = safe
		}
		switch err := w.Index.moveMark(i, free); {
		case errors.Is(err, osfile.ErrLocked):
			safe = mark
		case err != nil:
			return 0, err
		}
	}
	return safe, nil
}

// copyFrames copies the last version up to frame safe of every page that changed after frame
// copied, in page order.
func (w *Log) copyFrames(db osfile.Handle, h *format.WALIndexHeader, copied, safe uint32, sync func(osfile.Handle) error) error {
	w.Index.setAttempted(safe)
	if err := w.SyncBy(sync); err != nil {
		return err
	}
	list, err := w.latest(copied, safe)
	if err != nil {
		return err
	}
	size, err := db.Size()
	if err != nil {
		return err
	}
	unreplaced, err := w.guard(h, list)
	if err != nil {
		return err
	}
	if err := w.copyPages(db, h, list, unreplaced); err != nil {
		return dberr.Join(err, giveBack(db, size, err))
	}
	if safe == h.MaxFrame {
		if err := unreplaced(); err != nil {
			return err
		}
		if err := w.fitFile(db, int64(h.PageCount)*int64(w.PageSize)); err != nil {
			return err
		}
	}
	if err := sync(db); err != nil {
		return err
	}
	return w.remember()
}

// giveBack gives a full disk the space back that the database took as it grew to be
// copied to: a transaction that removes something may need it for its frames. The pages that are
// cut off are all in the log.
func giveBack(db osfile.Handle, size int64, err error) error {
	if !osfile.Full(err) {
		return nil
	}
	return db.Truncate(size)
}

// fitFile makes the file size bytes long. A file that has this size already keeps the blocks that
// it has beyond its end (package reserve).
func (w *Log) fitFile(db osfile.Handle, size int64) error {
	now, err := db.Size()
	if err != nil || now == size {
		return err
	}
	if err := db.Truncate(size); err != nil {
		return dberr.CopyError{Err: err}
	}
	w.Shrunk()
	return nil
}

// copyBytes is how much of the database is written at once.
const copyBytes = 256 << 10

// copyPages copies pages that belong to the database, those with consecutive numbers together. They
// are read from the file: all of a long log in the map would count as memory of this process.
func (w *Log) copyPages(db osfile.Handle, h *format.WALIndexHeader, list []pageFrame, unreplaced func() error) error {
	list = list[:sort.Search(len(list), func(i int) bool { return list[i].pgno > h.PageCount })]
	most := min(len(list), copyBytes/w.PageSize)
	frames, run := make([]byte, most*w.Frame), make([]byte, 0, most*w.PageSize)
	for len(list) > 0 {
		first, n := list[0].pgno, 1
		for n < min(most, len(list)) && list[n].pgno == first+uint32(n) {
			n++
		}
		var err error
		if run, err = w.appendPages(run[:0], frames, list[:n], h.Salt); err != nil {
			return err
		}
		if err := unreplaced(); err != nil {
			return err
		}
		if _, err := db.WriteAt(run, int64(first-1)*int64(w.PageSize)); err != nil {
			return dberr.CopyError{Err: err}
		}
		list = list[n:]
	}
	return nil
}

// appendPages appends the pages in frames of the log to b, and returns it. Adjacent frames are read
// together, into buf.
func (w *Log) appendPages(b, buf []byte, list []pageFrame, salt [2]uint32) ([]byte, error) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].frame == list[0].frame+uint32(n) {
			n++
		}
		if err := w.readFrames(buf[:n*w.Frame], list[:n], salt); err != nil {
			return nil, err
		}
		for i := range n {
			b = append(b, buf[i*w.Frame+format.FrameHeaderSize:(i+1)*w.Frame]...)
		}
		list = list[n:]
	}
	return b, nil
}

// readFrames reads frames that follow each other, header and page each. They must be of this
// log, and hold the pages that the index says: an index can be cut off beneath us, and read as
// zeros.
func (w *Log) readFrames(b []byte, list []pageFrame, salt [2]uint32) error {
	got, err := w.File.ReadAt(b, format.FrameOffset(list[0].frame, w.PageSize))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for i, of := range list {
		f, ok := format.ParseFrameHeader(b[i*w.Frame:])
		if (i+1)*w.Frame > got || !ok || of.pgno == 0 || f.Page != of.pgno || f.Salt != salt {
			return dberr.Corrupt(w.File.Name(), 0, fmt.Sprintf("frame %d is not that of page %d", of.frame, of.pgno))
		}
	}
	return nil
}

// latest returns for each page in the frames after copied up to safe the last one of them, in page
// order.
func (w *Log) latest(copied, safe uint32) ([]pageFrame, error) {
	list := make([]pageFrame, 0, safe-copied)
	for frame := copied + 1; frame <= safe; frame++ {
		pgno, err := w.Index.page(frame)
		if err != nil {
			return nil, err
		}
		list = append(list, pageFrame{pgno, frame})
	}
	slices.SortFunc(list, func(a, b pageFrame) int {
		return cmp.Or(cmp.Compare(a.pgno, b.pgno), cmp.Compare(b.frame, a.frame))
	})
	return slices.CompactFunc(list, func(a, b pageFrame) bool { return a.pgno == b.pgno }), nil
}

// storeRestart publishes the header of a log that begins again.
func (w *Log) storeRestart(before, h *format.WALIndexHeader) error {
	if w.Watch == nil {
		return w.Index.Store(h)
	}
	return w.Watch.restart(w.Index, before, h)
}

// Restart lets the log begin again if all of it is copied and no reader reads from it (W2), and
// reports whether it did. The caller must hold WRITE, and SHARED on READ0, which stops a checkpoint
// that still works with the state of the old log (W6). Restart also must not disturb a checkpoint
// by an old SQLite, which does not compare salts. So it takes CHECKPOINT; if another connection has
// that lock, the log is left to grow.
func (w *Log) Restart(h *format.WALIndexHeader) (bool, error) {
	if h.MaxFrame == 0 || w.Index.Backfill() != h.MaxFrame {
		return false, nil
	}
	err := w.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1)
	if err != nil {
		return false, dberr.IgnoreLocked(err)
	}
	defer w.Index.Unlock(format.WALCheckpointLock, 1)
	if err := w.Index.Lock(osfile.Exclusive, format.WALReadLock+1, format.WALReaders-1); err != nil {
		return false, dberr.IgnoreLocked(err)
	}
	defer w.Index.Unlock(format.WALReadLock+1, format.WALReaders-1)
	before := *h
	h.MaxFrame = 0
	h.Salt = [2]uint32{h.Salt[0] + 1, RandomWord()}
	w.Index.setBackfill(0) // first: a death in between must not leave frames of the new log for copied (X7)
	if err := w.storeRestart(&before, h); err != nil {
		return false, err
	}
	w.Index.setAttempted(0)
	w.Index.setMark(1, 0)
	for i := 2; i < format.WALReaders; i++ {
		w.Index.setMark(i, format.ReadMarkUnused)
	}
	return true, nil
}

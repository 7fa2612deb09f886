package wal

import (
	"errors"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

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

package wal

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
)

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

// walReserve is how much address space the map of a log takes at first: 64 MiB, or 1 MiB where
// addresses have 32 bits. A longer log gets a longer map.
const walReserve = 1 << 20 << (6 * (strconv.IntSize/32 - 1))

// FrameTable returns the table for a state of the log. It begins a new table when the log begins
// again, and when the index has an earlier state than before, because a connection has recovered
// it. The caller must hold the mutex of the DB.
func (w *Log) FrameTable(h *format.WALIndexHeader) *FrameTable {
	t := w.frames
	if t == nil || t.salt != h.Salt || t.last.Load() > h.MaxFrame || t.change > h.Change {
		t = newFrameTable(h.Salt)
	}
	t.change, w.frames = h.Change, t
	return t
}

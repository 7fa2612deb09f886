package ordercheck

import (
	"bytes"
	"slices"

	"github.com/foliofs/folio/internal/osfile"
)

// A handle watches the operations on its file.
type handle struct {
	osfile.Handle
	s *System
	f *file
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	switch h.f.role {
	case database:
		h.s.checkPages(h.f, h.Handle, p, off)
	case journal:
		h.s.checkJournal(h.f, p, off)
	case log:
		h.s.checkLog(h.f, p, off)
	}
	n, err := h.Handle.WriteAt(p, off)
	h.f.write(p[:n], off)
	return n, err
}

func (h *handle) Truncate(size int64) error {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	switch h.f.role {
	case database:
		h.s.checkCut(h.f, h.Handle, size)
	case journal, log:
		if size < int64(len(h.f.content)) {
			h.s.checkEnd(h.f, "is cut off")
		}
	}
	now, err := h.Handle.Size()
	if err != nil {
		return err
	}
	err = h.Handle.Truncate(size)
	if err == nil && now != size { // otherwise it gives back blocks beyond the end
		h.f.truncate(size)
	}
	return err
}

func (h *handle) Sync() error {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	err := h.Handle.Sync()
	if err == nil {
		h.f.sync()
	}
	return err
}

func (h *handle) Close() error {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if i := slices.Index(h.f.handles, h.Handle); i >= 0 {
		h.f.handles = slices.Delete(h.f.handles, i, i+1)
	}
	return h.Handle.Close()
}

// Named passes on the call if the wrapped handle implements the method.
func (h *handle) Named() bool {
	n, ok := h.Handle.(interface{ Named() bool })
	return !ok || n.Named()
}

// LoseSync passes on the call.
func (h *handle) LoseSync(err error) error {
	return h.Handle.(interface{ LoseSync(err error) error }).LoseSync(err)
}

func (f *file) write(p []byte, off int64) {
	f.dirty = true
	if f.role != journal && f.role != log {
		return
	}
	if end := int(off) + len(p); end > len(f.content) {
		f.content = append(f.content, make([]byte, end-len(f.content))...)
	}
	copy(f.content[off:], p)
	f.frames = nil
}

func (f *file) truncate(size int64) {
	f.dirty = true
	if int64(len(f.content)) > size {
		f.content = f.content[:size]
	} else if f.role == journal || f.role == log {
		f.content = append(f.content, make([]byte, size-int64(len(f.content)))...)
	}
	f.frames = nil
}

func (f *file) sync() {
	f.dirty = false
	if !bytes.Equal(f.synced, f.content) {
		f.synced = bytes.Clone(f.content)
	}
	f.frames = nil
}

package ordercheck

import (
	"errors"

	"github.com/foliofs/folio/internal/osfile"
)

// FreeSpace passes on the call if the wrapped handle implements the method.
func (h *handle) FreeSpace() (bytes int64, err error) {
	d, ok := h.Handle.(osfile.Disk)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return d.FreeSpace()
}

// Preallocate passes on the call if the wrapped handle implements the method.
func (h *handle) Preallocate(off, n int64) error {
	d, ok := h.Handle.(osfile.Disk)
	if !ok {
		return errors.ErrUnsupported
	}
	return d.Preallocate(off, n)
}

// Punch passes on the call if the wrapped handle implements the method.
func (h *handle) Punch(off, n int64) error {
	d, ok := h.Handle.(osfile.Disk)
	if !ok {
		return errors.ErrUnsupported
	}
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.checkPunch(h, off, n)
	return d.Punch(off, n)
}

// checkPunch looks at a hole that is made in a database (R8).
func (s *System) checkPunch(h *handle, off, n int64) {
	size := int64(pageSizeOf(h.Handle))
	if h.f.role != database || size == 0 || off%size != 0 || n%size != 0 {
		s.breach(h.f, 8, "%d bytes are punched at %d, of pages of %d", n, off, size)
		return
	}
	if !s.settled(h.f) {
		s.breach(h.f, 8, "is punched before it is synced")
	}
	if j := s.files[h.f.base+suffixes[journal]]; j != nil {
		if _, _, hot := savedPages(s.stable(j)); hot {
			s.breach(h.f, 8, "is punched while there is %s", j.name)
		}
	}
	if name := h.f.base + suffixes[journal]; s.removed[name] && !s.lazy {
		s.breach(h.f, 8, "is punched before it is synced that %s is gone", name)
	}
	if l := s.files[h.f.base+suffixes[log]]; l != nil && parseFrames(l.content).count > 0 {
		s.breach(h.f, 8, "is punched while %s has frames", l.name)
	}
	leaves := freeLeaves(h.Handle)
	for pgno := uint32(off/size) + 1; int64(pgno) <= (off+n)/size; pgno++ {
		if !leaves[pgno] {
			s.breach(h.f, 8, "page %d is punched, and is no leaf of the freelist", pgno)
		}
	}
}

package pager

import (
	"fmt"
	"sync"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/private"
)

// Pins are advisory locks that the engine gives no meaning. Each is a shared lock on one byte far
// behind everything that a database can contain, and belongs to this pager: pinning a number twice
// is pinning it once.

const pinBase = 1 << 60 // a database ends before 2^48

// A pinSet holds the pins of a pager. Compact takes them along when it replaces the file of the
// database.
type pinSet struct {
	*core
	mu  sync.Mutex // guards set, and the file against being exchanged
	set map[int64]bool
}

// lock takes all pins on a file.
func (h *pinSet) lock(file osfile.Handle) error {
	for n := range h.set {
		if err := file.Lock(osfile.Shared, pinBase+n, 1); err != nil {
			return err
		}
	}
	return nil
}

// Pin says that this pager uses n.
func (h *pinSet) Pin(n int64) error {
	return h.call(n, func(off int64) error {
		err := h.file.Lock(osfile.Shared, off, 1)
		if err == nil {
			h.set[n] = true
		}
		return err
	})
}

// Unpin says that this pager does not use n any more.
func (h *pinSet) Unpin(n int64) error {
	return h.call(n, func(off int64) error {
		delete(h.set, n)
		return h.file.Unlock(off, 1)
	})
}

// Pinned reports whether another pager, of this process or another, has pinned n. The pins of this
// one do not count.
func (h *pinSet) Pinned(n int64) (pinned bool, err error) {
	err = h.call(n, func(off int64) (err error) {
		pinned, err = h.file.Locked(osfile.Exclusive, off, 1)
		return err
	})
	return pinned, err
}

// call calls fn with the offset of the byte that stands for n. In an immutable database nothing is
// pinned, and fn is not called.
func (h *pinSet) call(n int64, fn func(off int64) error) error {
	if n < 0 || n > private.MaxPin {
		return fmt.Errorf("%w: a pin of number %d", dberr.ErrUnsupported, n)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.options.Immutable {
		return nil
	}
	if h.set == nil {
		h.set = make(map[int64]bool)
	}
	return fn(pinBase + n)
}

// carry takes all pins on the file that is about to become the database. They last until the
// handle is closed: by then the pager has opened the file by its name, and no other process has
// seen it without the pins. The handle is nil if nothing is pinned. The caller holds mu.
func (h *pinSet) carry(draft string) (osfile.Handle, error) {
	if len(h.set) == 0 {
		return nil, nil
	}
	file, err := h.options.System.OpenSide(h.file, draft, osfile.ReadWrite)
	if err != nil {
		return nil, err
	}
	return file, h.lock(file)
}

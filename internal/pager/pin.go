package pager

import (
	"fmt"
	"sync"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/private"
)

// Pins are advisory locks that the engine gives no meaning. Each
// is a shared lock on one byte far behind everything that a database can contain, and belongs to
// this pager: pinning a number twice is pinning it once.

const pinBase = 1 << 60 // a database ends before 2^48

// A pinSet holds the pins of a pager. Compact takes them along when it replaces the file of the
// database.
type pinSet struct {
	*core
	mu  sync.Mutex // guards set, and db.file against being exchanged
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
	if err := checkPin(n); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.options.Immutable {
		return nil
	}
	if err := h.file.Lock(osfile.Shared, pinBase+n, 1); err != nil {
		return err
	}
	if h.set == nil {
		h.set = make(map[int64]bool)
	}
	h.set[n] = true
	return nil
}

// Unpin says that this pager does not use n any more.
func (h *pinSet) Unpin(n int64) error {
	if err := checkPin(n); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.options.Immutable {
		return nil
	}
	delete(h.set, n)
	return h.file.Unlock(pinBase+n, 1)
}

// Pinned reports whether another pager, of this process or another, has pinned n. The pins of this
// one do not count.
func (h *pinSet) Pinned(n int64) (bool, error) {
	if err := checkPin(n); err != nil {
		return false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.options.Immutable {
		return false, nil
	}
	return h.file.Locked(osfile.Exclusive, pinBase+n, 1)
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

func checkPin(n int64) error {
	if n < 0 || n > private.MaxPin {
		return fmt.Errorf("%w: a pin of number %d", dberr.ErrUnsupported, n)
	}
	return nil
}

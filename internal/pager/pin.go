package pager

import (
	"fmt"
	"sync"

	"github.com/foliofs/folio/internal/dberr"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/private"
)

// Pins are advisory locks that the engine gives no meaning; [Pager.Pin] describes them. Each
// is a shared lock on one byte far behind everything that a database can contain, and belongs to
// this pager: pinning a number twice is pinning it once.

const pinBase = 1 << 60 // a database ends before 2^48

// A pinSet holds the pins of a pager. Compact takes them along when it replaces the file of the
// database.
type pinSet struct {
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
func (p *Pager) Pin(n int64) error {
	if err := checkPin(n); err != nil {
		return err
	}
	p.pins.mu.Lock()
	defer p.pins.mu.Unlock()
	if p.options.Immutable {
		return nil
	}
	if err := p.file.Lock(osfile.Shared, pinBase+n, 1); err != nil {
		return err
	}
	if p.pins.set == nil {
		p.pins.set = make(map[int64]bool)
	}
	p.pins.set[n] = true
	return nil
}

// Unpin says that this pager does not use n any more.
func (p *Pager) Unpin(n int64) error {
	if err := checkPin(n); err != nil {
		return err
	}
	p.pins.mu.Lock()
	defer p.pins.mu.Unlock()
	if p.options.Immutable {
		return nil
	}
	delete(p.pins.set, n)
	return p.file.Unlock(pinBase+n, 1)
}

// Pinned reports whether another pager, of this process or another, has pinned n. The pins of this
// one do not count.
func (p *Pager) Pinned(n int64) (bool, error) {
	if err := checkPin(n); err != nil {
		return false, err
	}
	p.pins.mu.Lock()
	defer p.pins.mu.Unlock()
	if p.options.Immutable {
		return false, nil
	}
	return p.file.Locked(osfile.Exclusive, pinBase+n, 1)
}

// carryPins takes all pins on the file that is about to become the database. They last until the
// handle is closed: by then the pager has opened the file by its name, and no other process has
// seen it without the pins. The handle is nil if nothing is pinned. The caller has pins.mu.
func (p *Pager) carryPins() (osfile.Handle, error) {
	if len(p.pins.set) == 0 {
		return nil, nil
	}
	file, err := p.options.System.OpenSide(p.file, p.replacer.draft, osfile.ReadWrite)
	if err != nil {
		return nil, err
	}
	return file, p.pins.lock(file)
}

func checkPin(n int64) error {
	if n < 0 || n > private.MaxPin {
		return fmt.Errorf("%w: a pin of number %d", dberr.ErrUnsupported, n)
	}
	return nil
}

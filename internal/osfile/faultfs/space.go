package faultfs

import (
	"errors"

	"github.com/foliofs/folio/internal/osfile"
)

// allocate does an operation of the disk, if there is one.
func (h *handle) allocate(op Op, do func(d osfile.Disk) error) error {
	d, ok := h.Handle.(osfile.Disk)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := h.check(op); err != nil {
		return err
	}
	return do(d)
}

// FreeSpace passes on the call if the wrapped System implements the method.
func (h *handle) FreeSpace() (bytes int64, err error) {
	err = h.allocate(FreeSpace, func(d osfile.Disk) (err error) { bytes, err = d.FreeSpace(); return err })
	return bytes, err
}

// Preallocate passes on the call if the wrapped System implements the method.
func (h *handle) Preallocate(off, n int64) error {
	return h.allocate(Preallocate, func(d osfile.Disk) error { return d.Preallocate(off, n) })
}

// Punch passes on the call if the wrapped System implements the method.
func (h *handle) Punch(off, n int64) error {
	return h.allocate(Punch, func(d osfile.Disk) error { return d.Punch(off, n) })
}

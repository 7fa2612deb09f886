package faultfs

import "errors"

// A disk is a handle that knows its file system.
type disk interface {
	Room() (bytes int64, err error)
	Preallocate(off, n int64) error
	Punch(off, n int64) error
}

// allocate does an operation of the disk, if there is one.
func (h *handle) allocate(op Op, do func(d disk) error) error {
	d, ok := h.Handle.(disk)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := h.check(op); err != nil {
		return err
	}
	return do(d)
}

// Room passes on the call if the wrapped System implements the method.
func (h *handle) Room() (bytes int64, err error) {
	err = h.allocate(Room, func(d disk) (err error) { bytes, err = d.Room(); return err })
	return bytes, err
}

// Preallocate passes on the call if the wrapped System implements the method.
func (h *handle) Preallocate(off, n int64) error {
	return h.allocate(Preallocate, func(d disk) error { return d.Preallocate(off, n) })
}

// Punch passes on the call if the wrapped System implements the method.
func (h *handle) Punch(off, n int64) error {
	return h.allocate(Punch, func(d disk) error { return d.Punch(off, n) })
}

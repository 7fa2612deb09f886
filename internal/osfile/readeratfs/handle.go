package readeratfs

import (
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/foliofs/folio/internal/osfile"
)

// A handle is the file, opened once.
type handle struct {
	*FS
	closed atomic.Bool
}

var _ osfile.Handle = (*handle)(nil)

// open returns an error if the handle is closed.
func (h *handle) open(op string) error {
	if h.closed.Load() {
		return &fs.PathError{Op: op, Path: h.name, Err: fs.ErrClosed}
	}
	return nil
}

func (h *handle) Name() string { return h.name }

// ReadAt reads bytes before the size of the file, even if the reader has more after it.
func (h *handle) ReadAt(p []byte, off int64) (n int, err error) {
	switch err := h.open("read"); {
	case err != nil:
		return 0, err
	case off >= h.size:
		return 0, io.EOF
	}
	part := p[:min(int64(len(p)), h.size-off)]
	n, err = h.r.ReadAt(part, off)
	switch {
	case n == len(p):
		return n, nil // also at the end, where a reader may say so
	case n == len(part), err == io.EOF:
		return n, io.EOF
	case err == nil:
		err = io.ErrNoProgress // which no reader may do
	}
	return n, &fs.PathError{Op: "read", Path: h.name, Err: err}
}

func (h *handle) WriteAt([]byte, int64) (int, error) { return 0, refuse("write", h.name) }

func (h *handle) Truncate(int64) error { return refuse("truncate", h.name) }

func (h *handle) Sync() error { return h.open("sync") }

func (h *handle) Size() (int64, error) { return h.size, h.open("stat") }

func (h *handle) Moved() (bool, error) { return false, h.open("stat") }

func (h *handle) Access() (osfile.Access, error) { return osfile.Access{Perm: 0o444}, h.open("stat") }

func (h *handle) Lock(osfile.LockKind, int64, int64) error { return h.open("lock") }

func (h *handle) Unlock(int64, int64) error { return h.open("unlock") }

func (h *handle) Locked(osfile.LockKind, int64, int64) (bool, error) { return false, h.open("lock") }

func (h *handle) Holder(osfile.LockKind, int64, int64) (int, error) { return 0, h.open("lock") }

func (h *handle) Map(int64) (*osfile.Mapping, error) { return nil, osfile.ErrNoMap }

func (h *handle) MapWords(int64, int64) (*osfile.Words, error) { return nil, osfile.ErrNoMap }

func (h *handle) Close() error {
	if h.closed.Swap(true) {
		return &fs.PathError{Op: "close", Path: h.name, Err: fs.ErrClosed}
	}
	return nil
}

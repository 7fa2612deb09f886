package memfs

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/foliofs/folio/internal/osfile"
)

// A handle is an open file.
type handle struct {
	fs       *FS
	inode    *inode
	name     string
	writable bool
	closed   atomic.Bool
}

var _ osfile.Handle = (*handle)(nil)

var errNegative = errors.New("negative offset or length")

// check returns an error if the handle is closed, or a number is negative.
func (h *handle) check(op string, off int64) error {
	switch {
	case h.closed.Load():
		return pathError(op, h.name, fs.ErrClosed)
	case off < 0:
		return pathError(op, h.name, errNegative)
	}
	return nil
}

// checkWrite is check for operations that change the file.
func (h *handle) checkWrite(op string, off int64) error {
	if err := h.check(op, off); err != nil {
		return err
	}
	if !h.writable {
		return pathError(op, h.name, fs.ErrPermission)
	}
	return nil
}

func (h *handle) Name() string { return h.name }

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	if err := h.check("read", off); err != nil {
		return 0, err
	}
	n := h.inode.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	if err := h.checkWrite("write", off); err != nil {
		return 0, err
	}
	h.inode.writeAt(p, off)
	return len(p), nil
}

func (h *handle) Truncate(size int64) error {
	err := h.checkWrite("truncate", size)
	if err == nil {
		h.inode.truncate(size)
	}
	return err
}

func (h *handle) Sync() error { return h.check("sync", 0) }

func (h *handle) Size() (int64, error) { return h.inode.length(), h.check("stat", 0) }

func (h *handle) Moved() (bool, error) { return h.fs.find(h.name) != h.inode, h.check("stat", 0) }

// Access returns that only this process may use the file: a copy on disk belongs to its user alone.
func (h *handle) Access() (osfile.Access, error) {
	return osfile.Access{Perm: 0o600}, h.check("stat", 0)
}

func (h *handle) Lock(kind osfile.LockKind, off, n int64) error {
	if err := h.check("lock", min(off, n-1)); err != nil {
		return err
	}
	if kind == osfile.Exclusive && !h.writable {
		return pathError("lock", h.name, fs.ErrPermission)
	}
	i := h.inode
	i.locking.Lock()
	defer i.locking.Unlock()
	if i.conflict(h, kind, off, off+n) {
		return pathError("lock", h.name, osfile.ErrLocked)
	}
	i.drop(h, off, off+n)
	i.locks = append(i.locks, lock{owner: h, kind: kind, start: off, end: off + n})
	return nil
}

func (h *handle) Unlock(off, n int64) error {
	err := h.check("unlock", min(off, n-1))
	if err == nil {
		h.unlock(off, off+n)
	}
	return err
}

func (h *handle) unlock(start, end int64) {
	h.inode.locking.Lock()
	defer h.inode.locking.Unlock()
	h.inode.drop(h, start, end)
}

func (h *handle) Locked(kind osfile.LockKind, off, n int64) (bool, error) {
	if err := h.check("lock", min(off, n-1)); err != nil {
		return false, err
	}
	h.inode.locking.Lock()
	defer h.inode.locking.Unlock()
	return h.inode.conflict(h, kind, off, off+n), nil
}

// Holder knows no processes.
func (h *handle) Holder(osfile.LockKind, int64, int64) (int, error) { return 0, h.check("lock", 0) }

func (h *handle) Map(int64) (*osfile.Mapping, error) {
	return nil, pathError("mmap", h.name, osfile.ErrNoMap)
}

func (h *handle) MapWords(int64, int64) (*osfile.Words, error) {
	return nil, pathError("mmap", h.name, osfile.ErrNoMap)
}

// Close gives up the locks.
func (h *handle) Close() error {
	if h.closed.Swap(true) {
		return pathError("close", h.name, fs.ErrClosed)
	}
	h.unlock(0, math.MaxInt64)
	h.fs.release()
	return nil
}

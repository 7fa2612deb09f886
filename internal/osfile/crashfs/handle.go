package crashfs

import (
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile"
)

// A handle is an open file description. Its FS's mu guards it.
type handle struct {
	fs       *FS
	inode    *inode
	name     string
	writable bool
	closed   bool
}

var (
	errReadOnly = errors.New("bad file descriptor: the file was opened for reading")
	errNegative = errors.New("negative offset or length")
)

// enter locks the file system for an operation, unless the handle is closed. leave must follow in
// any case.
func (h *handle) enter(op string) error {
	h.fs.mu.Lock()
	if h.closed {
		return h.fail(op, fs.ErrClosed)
	}
	return nil
}

func (h *handle) leave() { h.fs.mu.Unlock() }

// enterWrite is enter for operations that change the file.
func (h *handle) enterWrite(op string) error {
	err := h.enter(op)
	if err == nil && !h.writable {
		err = h.fail(op, errReadOnly)
	}
	return err
}

func (h *handle) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: h.name, Err: err}
}

// record records an operation on the file.
func (h *handle) record(op Op) {
	op.Name, op.inode = h.name, h.inode
	h.fs.record(op)
}

func (h *handle) Name() string { return h.name }

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	defer h.leave()
	if err := h.enter("read"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, h.fail("read", errNegative)
	}
	n := h.inode.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	defer h.leave()
	if err := h.enterWrite("write"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, h.fail("write", errNegative)
	}
	got, full := h.fs.claim(h.inode, off, int64(len(p)))
	p = p[:got]
	if err := h.inode.writeAt(p, off); err != nil {
		return 0, h.fail("write", err)
	}
	if full == nil || got > 0 {
		h.record(Op{Kind: Write, Off: off, N: got, data: append([]byte(nil), p...)})
	}
	return len(p), h.fail("write", full)
}

func (h *handle) Truncate(size int64) error {
	defer h.leave()
	if err := h.enterWrite("truncate"); err != nil {
		return err
	}
	if size < 0 {
		return h.fail("truncate", errNegative)
	}
	if err := h.inode.resize(size); err != nil {
		return h.fail("truncate", err)
	}
	h.record(Op{Kind: Truncate, N: size})
	return nil
}

func (h *handle) Sync() error {
	defer h.leave()
	if err := h.enter("sync"); err != nil {
		return err
	}
	h.record(Op{Kind: Sync})
	return nil
}

// LoseSync is a Sync that fails with err and loses the changes that were not on disk (D6).
func (h *handle) LoseSync(err error) error {
	defer h.leave()
	if err := h.enter("sync"); err != nil {
		return err
	}
	h.record(Op{Kind: Sync, Err: err})
	return h.fail("sync", err)
}

func (h *handle) Size() (int64, error) {
	defer h.leave()
	if err := h.enter("stat"); err != nil {
		return 0, err
	}
	return h.inode.size(), nil
}

func (h *handle) Moved() (bool, error) {
	defer h.leave()
	if err := h.enter("stat"); err != nil {
		return false, err
	}
	return h.fs.names[h.name] != h.inode, nil
}

// Access returns that all users may read and write the file.
func (h *handle) Access() (osfile.Access, error) {
	defer h.leave()
	return osfile.Access{Perm: 0o666}, h.enter("stat")
}

// Named reports whether the file still has a name.
func (h *handle) Named() bool {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	for _, i := range h.fs.names {
		if i == h.inode {
			return true
		}
	}
	return false
}

func (h *handle) Lock(kind osfile.LockKind, off, n int64) error {
	defer h.leave()
	if err := h.enter("lock"); err != nil {
		return err
	}
	err := h.checkRange(off, n)
	switch {
	case err != nil:
	case kind == osfile.Exclusive && !h.writable:
		err = errReadOnly
	case h.inode.conflict(h, kind, off, off+n):
		err = osfile.ErrLocked
	default:
		h.inode.unlock(h, off, off+n)
		h.inode.locks = append(h.inode.locks, lock{owner: h, kind: kind, start: off, end: off + n})
	}
	h.record(Op{Kind: Lock, Lock: kind, Off: off, N: n, Err: err})
	return h.fail("lock", err)
}

func (h *handle) Unlock(off, n int64) error {
	defer h.leave()
	if err := h.enter("unlock"); err != nil {
		return err
	}
	if err := h.checkRange(off, n); err != nil {
		return h.fail("unlock", err)
	}
	h.inode.unlock(h, off, off+n)
	h.record(Op{Kind: Unlock, Off: off, N: n})
	return nil
}

// Holder knows no processes.
func (h *handle) Holder(osfile.LockKind, int64, int64) (int, error) { return 0, nil }

func (h *handle) Locked(kind osfile.LockKind, off, n int64) (bool, error) {
	defer h.leave()
	if err := h.enter("lock"); err != nil {
		return false, err
	}
	if err := h.checkRange(off, n); err != nil {
		return false, h.fail("lock", err)
	}
	return h.inode.conflict(h, kind, off, off+n), nil
}

func (h *handle) checkRange(off, n int64) error {
	if off < 0 || n <= 0 {
		return errNegative
	}
	return nil
}

func (h *handle) Map(n int64) (*osfile.Mapping, error) {
	defer h.leave()
	if err := h.enter("mmap"); err != nil {
		return nil, err
	}
	if !h.fs.maps || n <= 0 || n > regionSize || h.inode.enterRegion() != nil {
		return nil, h.fail("mmap", osfile.ErrNoMap)
	}
	return osfile.NewMapping(regionBytes(h.inode.region)[:n:n], h.unmap()), nil
}

func (h *handle) MapWords(off, n int64) (*osfile.Words, error) {
	defer h.leave()
	if err := h.enterWrite("mmap"); err != nil {
		return nil, err
	}
	if off < 0 || n <= 0 || off%4 != 0 || n%4 != 0 || n > regionSize-off || h.inode.enterRegion() != nil {
		return nil, h.fail("mmap", osfile.ErrNoMap)
	}
	h.inode.volatile = true
	return osfile.NewWords(h.inode.region[off/4:(off+n)/4:(off+n)/4], h.unmap()), nil
}

// unmap returns a function that ends one mapping of the file.
func (h *handle) unmap() func() error {
	f, i := h.fs, h.inode
	return func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		i.leaveRegion()
		return nil
	}
}

// Close gives up the locks.
func (h *handle) Close() error {
	defer h.leave()
	if err := h.enter("close"); err != nil {
		return err
	}
	h.inode.unlock(h, 0, maxOffset)
	h.closed = true
	h.fs.handles--
	h.inode.opens--
	h.fs.vacate(h.inode)
	return nil
}

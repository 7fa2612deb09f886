package crashfs

import (
	"errors"
	"syscall"
)

// blockSize is the unit in which a disk gives out space.
const blockSize = 4096

// WithFreeSpace limits the disk to the given number of free bytes, in addition to the contents of
// its files. Files can then be asked for their FreeSpace, and Preallocate and Punch work. Otherwise
// these give errors.ErrUnsupported, and the disk has no limit.
func WithFreeSpace(free int64) Option {
	return func(f *FS) {
		f.limited = true
		for _, i := range f.inodes {
			i.occupy()
		}
		f.space = f.used() + (free+blockSize-1)/blockSize
	}
}

// LeaveFreeSpace leaves the disk so many bytes free, as if another program had taken the rest or
// given it back.
func (f *FS) LeaveFreeSpace(free int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.space = f.used() + (free+blockSize-1)/blockSize
}

// used returns how many blocks all files have. The caller must hold mu.
func (f *FS) used() (n int64) {
	for _, i := range f.inodes {
		n += i.count
	}
	return n
}

// claim gives a file the blocks that it lacks for n bytes from off on, as far as there are any, and
// returns for how many of these bytes the file has blocks. The caller must hold mu.
func (f *FS) claim(i *inode, off, n int64) (got int64, err error) {
	if !f.limited || n <= 0 {
		return n, nil
	}
	free := f.space - f.used()
	for b := off / blockSize; b*blockSize < off+n; b++ {
		if i.has(b) {
			continue
		}
		if free <= 0 {
			return max(0, b*blockSize-off), syscall.ENOSPC
		}
		i.take(b)
		free--
	}
	return n, nil
}

// vacate gives back the blocks of a file that has no name and no handle any more. The caller must
// hold mu.
func (f *FS) vacate(i *inode) {
	if i == nil || i.opens > 0 {
		return
	}
	for _, named := range f.names {
		if named == i {
			return
		}
	}
	i.release(0)
}

// has reports whether the file has the b-th block.
func (i *inode) has(b int64) bool { return b < int64(len(i.blocks)) && i.blocks[b] }

func (i *inode) take(b int64) {
	if n := b + 1 - int64(len(i.blocks)); n > 0 {
		i.blocks = append(i.blocks, make([]bool, n)...)
	}
	i.blocks[b] = true
	i.count++
}

func (i *inode) drop(b int64) {
	if i.has(b) {
		i.blocks[b] = false
		i.count--
	}
}

// release gives back the blocks from the b-th on.
func (i *inode) release(b int64) {
	for n := b; n < int64(len(i.blocks)); n++ {
		i.drop(n)
	}
}

// occupy takes the blocks of a file that has just been found on disk. A block of zeros takes none:
// it was preallocated, and never written, or punched.
func (i *inode) occupy() {
	for b := int64(0); b*blockSize < int64(len(i.data)); b++ {
		if !zeros(i.data[b*blockSize : min(int64(len(i.data)), (b+1)*blockSize)]) {
			i.take(b)
		}
	}
}

func zeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// punch makes n bytes from off on read as zeros, as far as the file has them, and gives back the
// blocks that lie in them as a whole.
func (i *inode) punch(off, n int64) error {
	for b := (off + blockSize - 1) / blockSize; (b+1)*blockSize <= off+n; b++ {
		i.drop(b)
	}
	if n = min(n, i.size()-off); n <= 0 {
		return nil
	}
	return i.writeAt(make([]byte, n), off)
}

// FreeSpace returns how many bytes the disk has free.
func (h *handle) FreeSpace() (bytes int64, err error) {
	defer h.leave()
	if err := h.enter("statfs"); err != nil {
		return 0, err
	}
	if !h.fs.limited {
		return 0, h.fail("statfs", errors.ErrUnsupported)
	}
	return max(0, h.fs.space-h.fs.used()) * blockSize, nil
}

// Preallocate gives the file blocks for n bytes from off on. If there is no space for all it
// keeps those that it got, as ext4 does.
func (h *handle) Preallocate(off, n int64) error {
	defer h.leave()
	if err := h.enterAllocate("allocate", off, n); err != nil {
		return err
	}
	_, err := h.fs.claim(h.inode, off, n)
	h.record(Op{Kind: Preallocate, Off: off, N: n, Err: err})
	return h.fail("allocate", err)
}

// Punch gives back the blocks of n bytes from off on, and makes these bytes read as zeros. The size
// of the file stays as it is.
func (h *handle) Punch(off, n int64) error {
	defer h.leave()
	if err := h.enterAllocate("punch", off, n); err != nil {
		return err
	}
	if err := h.inode.punch(off, n); err != nil {
		return h.fail("punch", err)
	}
	h.record(Op{Kind: Punch, Off: off, N: n})
	return nil
}

func (h *handle) enterAllocate(op string, off, n int64) error {
	switch err := h.enterWrite(op); {
	case err != nil:
		return err
	case !h.fs.limited:
		return h.fail(op, errors.ErrUnsupported)
	case off < 0 || n <= 0:
		return h.fail(op, errNegative)
	}
	return nil
}

// FreeSpace is that of the file system, which a process that is dead does not learn.
func (h *mortal) FreeSpace() (bytes int64, err error) {
	h.p.live()
	return h.disk().FreeSpace()
}

// Preallocate counts as an operation.
func (h *mortal) Preallocate(off, n int64) error {
	h.p.live()
	return h.disk().Preallocate(off, n)
}

// Punch counts as an operation.
func (h *mortal) Punch(off, n int64) error {
	h.p.live()
	return h.disk().Punch(off, n)
}

func (h *mortal) disk() *handle { return h.Handle.(*handle) }

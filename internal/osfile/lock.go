package osfile

import (
	"io/fs"
	"os"

	"github.com/foliofs/folio/internal/invariant"
)

// A LockKind says how much a lock excludes.
type LockKind int

const (
	Shared    LockKind = iota // excludes Exclusive
	Exclusive                 // excludes both; the file must be open for writing
)

// Lock takes a lock on n > 0 bytes at off, which may be past the end of the file. It never waits:
// ErrLocked tells that another File or another process holds a lock in the way; then nothing has
// changed. Bytes that f has locked already are converted to the new kind; if the system cannot
// do that at once (Windows), they must be unlocked first. It allocates nothing unless it fails.
func (f *File) Lock(kind LockKind, off, n int64) error {
	if f.closed.Load() {
		return f.fail("lock", fs.ErrClosed)
	}
	checkRange(off, n)
	return f.fail("lock", f.d.lock(kind, off, n))
}

// Unlock gives up the locks of f on n > 0 bytes at off. On Windows the bytes must equal the range
// of one Lock.
func (f *File) Unlock(off, n int64) error {
	if f.closed.Load() {
		return f.fail("unlock", fs.ErrClosed)
	}
	checkRange(off, n)
	return f.fail("unlock", f.d.unlock(off, n))
}

// Locked reports whether Lock would give ErrLocked now. The locks of f itself never count.
func (f *File) Locked(kind LockKind, off, n int64) (bool, error) {
	if f.closed.Load() {
		return false, f.fail("lock", fs.ErrClosed)
	}
	locked, err := f.d.locked(kind, off, n)
	return locked, f.fail("lock", err)
}

// Process is the number of this process, as Holder returns it.
var Process = os.Getpid()

// Holder returns the number of a process that holds a lock in the way of Lock; 0 if there is none,
// or the system does not tell. It may take some milliseconds: it is meant for messages.
func (f *File) Holder(kind LockKind, off, n int64) (pid int, err error) {
	if f.closed.Load() {
		return 0, f.fail("lock", fs.ErrClosed)
	}
	pid, err = f.d.holder(kind, off, n)
	return pid, f.fail("lock", err)
}

// checkRange refuses ranges that fcntl would take for the bytes before off, or for all that follow.
func checkRange(off, n int64) {
	if off < 0 || n <= 0 {
		invariant.Check(false, "lock of %d bytes at %d", n, off)
	}
}

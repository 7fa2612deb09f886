package osfile

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// FreeSpace returns how many bytes the disk of the file has free for this process.
func (f *File) FreeSpace() (bytes int64, err error) {
	if f.closed.Load() {
		return 0, f.fail("statfs", fs.ErrClosed)
	}
	var st unix.Statfs_t
	if err := retryInterrupted(func() error { return unix.Fstatfs(f.d.fd, &st) }); err != nil {
		return 0, f.fail("statfs", err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// Preallocate gives the file blocks of the disk for n bytes from off on, beyond its end, too: its
// size and its content stay as they are. A write to these bytes finds its space. Truncate gives
// back the blocks beyond the end, also if the size stays the same. The error matches
// errors.ErrUnsupported if the file system cannot do it.
func (f *File) Preallocate(off, n int64) error {
	if f.closed.Load() {
		return f.fail("allocate", fs.ErrClosed)
	}
	return f.fail("allocate", retryInterrupted(func() error { return unix.Fallocate(f.d.fd, unix.FALLOC_FL_KEEP_SIZE, off, n) }))
}

// Punch gives back the blocks of the disk that hold n bytes from off on, which must be within the
// file. They read as zeros from then on, and a write to them needs space. The error matches
// errors.ErrUnsupported if the file system cannot do it.
func (f *File) Punch(off, n int64) error {
	if f.closed.Load() {
		return f.fail("punch", fs.ErrClosed)
	}
	const mode = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE
	return f.fail("punch", retryInterrupted(func() error { return unix.Fallocate(f.d.fd, mode, off, n) }))
}

func retryInterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

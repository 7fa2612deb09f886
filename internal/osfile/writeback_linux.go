package osfile

import "golang.org/x/sys/unix"

// StartWriteback asks the system to begin writing n bytes at off to disk, so that a later Sync
// waits less. It is a hint: it promises nothing and reports nothing.
func (f *File) StartWriteback(off, n int64) {
	if !f.closed.Load() {
		_ = unix.SyncFileRange(f.d.fd, off, n, unix.SYNC_FILE_RANGE_WRITE)
	}
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/store"
)

// StatFs implements fuse.RawFileSystem: the room is that in the volume and on the disk below it.
func (m *fileSystem) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	if m.outage.on.Load() {
		return timedOut
	}
	info, err := m.store.Info(bg)
	if err != nil {
		return m.status(err)
	}
	used := uint64(info.Size - info.FreeBytes)
	free := uint64(info.FreeBytes)
	var disk unix.Statfs_t
	if info.Path != "" && unix.Statfs(info.Path, &disk) == nil {
		free += disk.Bavail * uint64(disk.Bsize)
	}
	if most := m.store.Features().MaxSize; most > 0 {
		free = min(free, uint64(max(0, most-int64(used))))
	}
	*out = fuse.StatfsOut{
		Bsize: blockSize, Frsize: blockSize, NameLen: maxName,
		Blocks: (used + free) / blockSize, Bfree: free / blockSize, Bavail: free / blockSize,
		Files: uint64(store.MaxIno), Ffree: uint64(store.MaxIno - info.LastIno),
	}
	return fuse.OK
}

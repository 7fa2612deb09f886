//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// The requests that name an inode go to the file system that has it. All others are for the volume
// as a whole, or share one answer for all files, and go to the live files' file system.

// isLive reports whether a node is of the live files.
func isLive(node uint64) bool { return node < snapshotsNode }

// Forget implements fuse.RawFileSystem.
func (s *snapshotMount) Forget(node, nlookup uint64) { s.owner(node).Forget(node, nlookup) }

// GetAttr implements fuse.RawFileSystem.
func (s *snapshotMount) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return s.owner(in.NodeId).GetAttr(cancel, in, out)
}

// SetAttr implements fuse.RawFileSystem.
func (s *snapshotMount) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return s.owner(in.NodeId).SetAttr(cancel, in, out)
}

// Mknod implements fuse.RawFileSystem.
func (s *snapshotMount) Mknod(cancel <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return s.owner(in.NodeId).Mknod(cancel, in, name, out)
}

// Mkdir implements fuse.RawFileSystem.
func (s *snapshotMount) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return s.owner(in.NodeId).Mkdir(cancel, in, name, out)
}

// Unlink implements fuse.RawFileSystem.
func (s *snapshotMount) Unlink(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return s.owner(in.NodeId).Unlink(cancel, in, name)
}

// Rmdir implements fuse.RawFileSystem. The directory of snapshots itself cannot be removed.
func (s *snapshotMount) Rmdir(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	if s.isDir(in.NodeId, name) {
		return fuse.EROFS
	}
	return s.owner(in.NodeId).Rmdir(cancel, in, name)
}

// isDir reports whether a name in a directory leads to the directory of snapshots.
func (s *snapshotMount) isDir(node uint64, name string) bool {
	if node != fuse.FUSE_ROOT_ID || name != snapshotDirName {
		return false
	}
	var out fuse.EntryOut
	there, st := s.lookupDir(&out)
	return there && st.Ok()
}

// Rename implements fuse.RawFileSystem.
func (s *snapshotMount) Rename(cancel <-chan struct{}, in *fuse.RenameIn, oldname, newname string) fuse.Status {
	if !isLive(in.NodeId) || !isLive(in.Newdir) || s.isDir(in.NodeId, oldname) || s.isDir(in.Newdir, newname) {
		return fuse.EROFS
	}
	return s.fileSystem.Rename(cancel, in, oldname, newname)
}

// Link implements fuse.RawFileSystem. A file of a snapshot can get no name among the live files:
// programs then copy it.
func (s *snapshotMount) Link(cancel <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	if isLive(in.NodeId) && !isLive(in.Oldnodeid) {
		return fuse.Status(syscall.EXDEV)
	}
	return s.owner(in.NodeId).Link(cancel, in, name, out)
}

// Symlink implements fuse.RawFileSystem.
func (s *snapshotMount) Symlink(cancel <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	return s.owner(in.NodeId).Symlink(cancel, in, target, name, out)
}

// Readlink implements fuse.RawFileSystem.
func (s *snapshotMount) Readlink(cancel <-chan struct{}, in *fuse.InHeader) ([]byte, fuse.Status) {
	return s.owner(in.NodeId).Readlink(cancel, in)
}

// GetXAttr implements fuse.RawFileSystem.
func (s *snapshotMount) GetXAttr(cancel <-chan struct{}, in *fuse.InHeader, name string, dest []byte) (uint32, fuse.Status) {
	return s.owner(in.NodeId).GetXAttr(cancel, in, name, dest)
}

// ListXAttr implements fuse.RawFileSystem.
func (s *snapshotMount) ListXAttr(cancel <-chan struct{}, in *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	return s.owner(in.NodeId).ListXAttr(cancel, in, dest)
}

// SetXAttr implements fuse.RawFileSystem.
func (s *snapshotMount) SetXAttr(cancel <-chan struct{}, in *fuse.SetXAttrIn, name string, value []byte) fuse.Status {
	return s.owner(in.NodeId).SetXAttr(cancel, in, name, value)
}

// RemoveXAttr implements fuse.RawFileSystem.
func (s *snapshotMount) RemoveXAttr(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return s.owner(in.NodeId).RemoveXAttr(cancel, in, name)
}

// Create implements fuse.RawFileSystem.
func (s *snapshotMount) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return s.owner(in.NodeId).Create(cancel, in, name, out)
}

// Tmpfile implements fuse.RawFileSystem.
func (s *snapshotMount) Tmpfile(cancel <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	return s.owner(in.NodeId).Tmpfile(cancel, in, out)
}

// Read implements fuse.RawFileSystem.
func (s *snapshotMount) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	return s.owner(in.NodeId).Read(cancel, in, buf)
}

// Lseek implements fuse.RawFileSystem.
func (s *snapshotMount) Lseek(cancel <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	return s.owner(in.NodeId).Lseek(cancel, in, out)
}

// Write implements fuse.RawFileSystem. The bytes that a program has written to a map of a file of a
// snapshot is in the caches of the kernel already, which must drop it.
func (s *snapshotMount) Write(cancel <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if !isLive(in.NodeId) && in.WriteFlags&fuse.WRITE_CACHE != 0 {
		node := store.Ino(in.NodeId)
		time.AfterFunc(retryAfter, func() { s.notify.add(target{ino: node}, true, 0) })
	}
	return s.owner(in.NodeId).Write(cancel, in, data)
}

// CopyFileRange implements fuse.RawFileSystem. The kernel itself copies across the border.
func (s *snapshotMount) CopyFileRange(cancel <-chan struct{}, in *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	if isLive(in.NodeIdOut) && !isLive(in.NodeId) {
		return 0, fuse.Status(syscall.EXDEV)
	}
	return s.owner(in.NodeIdOut).CopyFileRange(cancel, in)
}

// Fallocate implements fuse.RawFileSystem.
func (s *snapshotMount) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	return s.owner(in.NodeId).Fallocate(cancel, in)
}

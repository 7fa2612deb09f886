//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/store"
)

// Open implements fuse.RawFileSystem. The answer means that it need not be called again.
func (m *fileSystem) Open(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	if m.staleness > 0 { // the size must be as new as the content, or a reader gets a part of it
		m.kernel.InodeNotify(in.NodeId, -1, 0)
	}
	if m.confirms() {
		m.inodes.opened(m.ino(in.NodeId))
		m.confirmed.put(in.Pid, facts{opened: m.ino(in.NodeId)})
	}
	if m.observer == nil {
		return fuse.OK // the kernel reads each file anew when it is opened
	}
	return fuse.ENOSYS
}

// Flush implements fuse.RawFileSystem: there is nothing to do when a file is closed, ever.
func (m *fileSystem) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// Read implements fuse.RawFileSystem.
func (m *fileSystem) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	var got int
	ino := m.ino(in.NodeId)
	m.race.read(ino, int64(in.Offset), int64(in.Offset)+int64(in.Size))
	m.cached(ino, int64(in.Offset), int(in.Size)) // before: another program may change it meanwhile
	at := m.inodes.reading(ino)
	if m.confirms() {
		if c := m.confirmed.take(in.Pid).content; c != nil && c.n.Ino == ino && m.inodes.current(&c.n, c.at) {
			if in.Offset < uint64(len(c.data)) {
				got = copy(buf[:min(len(buf), int(in.Size))], c.data[in.Offset:])
			}
			m.inodes.short(ino, c.n.Size, c.at)
			return fuse.ReadResultData(buf[:got]), fuse.OK
		}
	}
	need := store.NeedAll
	if in.Offset == 0 && m.inodes.extentOf(ino).size <= store.ChunkSize { // as the kernel was told
		need = store.NeedInode
	}
	st := m.viewAt(self(ino), need, func(rx store.Rx) error {
		n, err := regular(rx, ino)
		if err != nil {
			return err
		}
		got, err = readAt(rx, &n, buf[:min(len(buf), int(in.Size))], int64(in.Offset))
		if got < int(in.Size) {
			m.inodes.short(ino, n.Size, at)
		}
		return err
	})
	if st != fuse.OK {
		return nil, st
	}
	m.cached(ino, int64(in.Offset), got)
	return fuse.ReadResultData(buf[:got]), fuse.OK
}

// regular returns the inode of a regular file.
func regular(rx store.Rx, ino store.Ino) (store.Node, error) {
	n, err := rx.Node(ino)
	switch {
	case err != nil:
		return n, err
	case store.TypeOf(n.Mode) == store.Dir:
		return n, syscall.EISDIR
	case !n.IsRegular():
		return n, syscall.EINVAL
	}
	return n, nil
}

// readAt fills p up to the end of the file.
func readAt(rx store.Rx, n *store.Node, p []byte, off int64) (got int, err error) {
	if off < 0 || off >= n.Size {
		return 0, nil
	}
	got, err = rx.ReadAt(*n, p, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return got, err
}

// cached notes that the kernel may have a part of a content. Writing a part of a chunk may move all
// of it.
func (m *fileSystem) cached(ino store.Ino, off int64, size int) {
	end := (off + int64(size) + store.ChunkSize - 1) &^ (store.ChunkSize - 1)
	if size > 0 && m.observer != nil && m.pages.add(ino, off&^(store.ChunkSize-1), end) {
		m.wakeWatcher()
	}
}

// Readlink implements fuse.RawFileSystem.
func (m *fileSystem) Readlink(_ <-chan struct{}, in *fuse.InHeader) (target []byte, st fuse.Status) {
	ino := m.ino(in.NodeId)
	st = m.viewAt(self(ino), store.NeedInode, func(rx store.Rx) error {
		n, err := rx.Node(ino)
		if err != nil {
			return err
		}
		if store.TypeOf(n.Mode) != store.Symlink {
			return syscall.EINVAL
		}
		if n.Size > store.MaxPath {
			return syscall.ENAMETOOLONG
		}
		target = make([]byte, n.Size)
		_, err = readAt(rx, &n, target, 0)
		return err
	})
	m.cached(ino, 0, len(target))
	return target, st
}

// Write implements fuse.RawFileSystem.
func (m *fileSystem) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	arrived := time.Now()
	off := int64(in.Offset)
	ino := m.ino(in.NodeId)
	dropped := false // setuid or setgid, which the kernel is not told
	r := resize{start: off, end: off + int64(len(data)), thread: in.Pid, past: in.Fh == pastCache || in.Flags&syscall.O_DIRECT != 0}
	r.cached = !r.past
	m.inodes.changing(ino)
	st := m.changeBy(&in.InHeader, len(data), func(c *change) error {
		n, err := regular(c.Tx, ino)
		if err != nil {
			return err
		}
		before := n
		if in.Flags&syscall.O_APPEND != 0 && in.WriteFlags&fuse.WRITE_CACHE == 0 {
			off = n.Size // another process may have appended as well
		}
		if err := c.write(&n, data, off); err != nil {
			return err
		}
		if in.WriteFlags&fuse.WRITE_CACHE == 0 { // else it was written to a map, which counts for nobody
			if err := c.dropPrivileges(&n, in.WriteFlags&fuse.WRITE_KILL_SUIDGID != 0); err != nil {
				return err
			}
		}
		dropped = before.Mode != n.Mode
		r.before, r.after, r.moved = before.Size, n.Size, off != r.start
		return c.Put(&before, &n)
	}, self(ino))
	if st == fuse.OK {
		m.cached(ino, off, len(data))
		m.refresh(ino, off, len(data), arrived)
	}
	m.changed(ino, st, &r)
	if in.WriteFlags&fuse.WRITE_CACHE == 0 { // the kernel makes these one after the other
		m.inodes.wrote(ino)
	}
	if st != fuse.OK {
		return 0, st
	}
	if dropped {
		m.forgetAttrs(ino)
	}
	if in.Flags&(syscall.O_SYNC|syscall.O_DSYNC) != 0 {
		st = m.sync()
	}
	return uint32(len(data)), st
}

// write writes to a regular file.
func (c *change) write(n *store.Node, data []byte, off int64) error {
	if off < 0 || off > store.MaxSize-int64(len(data)) {
		return syscall.EFBIG
	}
	return c.Write(n, data, off)
}

// Fsync implements fuse.RawFileSystem.
func (m *fileSystem) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return m.sync() }

// FsyncDir implements fuse.RawFileSystem.
func (m *fileSystem) FsyncDir(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return m.sync() }

// Fallocate implements fuse.RawFileSystem. No space is reserved: the allocated part is a hole.
func (m *fileSystem) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	const known = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_ZERO_RANGE
	off, size := int64(in.Offset), int64(in.Length)
	switch {
	case in.Mode&^known != 0:
		return fuse.Status(syscall.EOPNOTSUPP)
	case off < 0 || size <= 0:
		return fuse.EINVAL
	case off > store.MaxSize-size:
		return fuse.Status(syscall.EFBIG)
	}
	ino := m.ino(in.NodeId)
	dropped := false
	r := resize{past: true} // the kernel forgets by itself what is within the file
	m.inodes.changing(ino)
	st := m.changeBy(&in.InHeader, smallChange+1, func(c *change) error {
		n, err := regular(c.Tx, ino)
		if err != nil {
			return err
		}
		before := n
		if in.Mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
			if err := c.Punch(&n, off, min(size, max(0, n.Size-off))); err != nil {
				return err
			}
		}
		if in.Mode&unix.FALLOC_FL_KEEP_SIZE == 0 && off+size > n.Size {
			if err := c.resize(&n, off+size); err != nil {
				return err
			}
		}
		if err := c.dropPrivileges(&n, c.losesBits(&n)); err != nil {
			return err
		}
		dropped = before.Mode != n.Mode
		r.before, r.after, r.start, r.end = before.Size, n.Size, n.Size, n.Size
		return c.Put(&before, &n)
	})
	m.changed(ino, st, &r)
	if dropped {
		m.forgetAttrs(ino)
	}
	return st
}

// Lseek implements fuse.RawFileSystem: SEEK_DATA and SEEK_HOLE; the kernel answers other seeks
// itself.
func (m *fileSystem) Lseek(_ <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	ino, off := m.ino(in.NodeId), int64(in.Offset)
	return m.view(func(rx store.Rx) error {
		n, err := regular(rx, ino)
		if err != nil {
			return err
		}
		if off < 0 || off >= n.Size {
			return syscall.ENXIO
		}
		at, err := seek(rx, &n, off, in.Whence)
		out.Offset = uint64(at)
		return err
	})
}

func seek(rx store.Rx, n *store.Node, off int64, whence uint32) (int64, error) {
	switch whence {
	case unix.SEEK_HOLE:
		return rx.NextHole(*n, off)
	case unix.SEEK_DATA:
	default:
		return 0, syscall.EINVAL
	}
	at, err := rx.NextData(*n, off)
	if err == nil && at >= n.Size {
		err = syscall.ENXIO
	}
	return at, err
}

// copyPiece is how many bytes one transaction copies.
const copyPiece = 8 << 20

// CopyFileRange implements fuse.RawFileSystem.
func (m *fileSystem) CopyFileRange(_ <-chan struct{}, in *fuse.CopyFileRangeIn) (written uint32, st fuse.Status) {
	if in.Flags != 0 {
		return 0, fuse.EINVAL
	}
	from, to := m.ino(in.NodeId), m.ino(in.NodeIdOut)
	size := min(int64(in.Len), copyPiece)
	r := resize{past: true} // as in Fallocate
	var done int64
	dropped := false
	m.inodes.changing(to)
	st = m.changeBy(&in.InHeader, smallChange+1, func(c *change) (err error) {
		done, dropped, err = c.copyRange(&r, from, to, size, in)
		return err
	})
	m.changed(to, st, &r)
	if st != fuse.OK {
		return 0, st
	}
	if dropped {
		m.forgetAttrs(to)
	}
	return uint32(done), st
}

// copyRange copies from one file to another, and reports whether that has lost setuid or setgid.
func (c *change) copyRange(r *resize, from, to store.Ino, size int64, in *fuse.CopyFileRangeIn) (done int64, dropped bool, err error) {
	src, err := regular(c.Tx, from)
	if err != nil {
		return 0, false, err
	}
	dst, err := regular(c.Tx, to)
	if err != nil {
		return 0, false, err
	}
	before := dst
	offIn, offOut := int64(in.OffIn), int64(in.OffOut)
	r.before, r.after = dst.Size, dst.Size
	size = min(size, src.Size-offIn)
	if size <= 0 || offIn < 0 {
		return 0, false, nil
	}
	p := make([]byte, min(size, maxWrite))
	for done < size {
		n, err := readAt(c.Tx, &src, p[:min(size-done, maxWrite)], offIn+done)
		if err != nil || n == 0 {
			return done, false, err
		}
		if err := c.write(&dst, p[:n], offOut+done); err != nil {
			return done, false, err
		}
		if from == to {
			src.Size, src.Holes = dst.Size, dst.Holes
		}
		done += int64(n)
	}
	if err := c.dropPrivileges(&dst, c.losesBits(&dst)); err != nil {
		return done, false, err
	}
	r.after, r.start, r.end = dst.Size, dst.Size, dst.Size
	return done, before.Mode != dst.Mode, c.Put(&before, &dst)
}

// pastCache is the handle of files whose writes go past the caches of the kernel.
const pastCache = 1

// refresh makes the kernel forget the part of a write that a read may have overtaken. It returns
// when that is done, unless the write itself has the page locked until it is answered.
func (m *fileSystem) refresh(ino store.Ino, off int64, size int, arrived time.Time) {
	if m.observer == nil {
		return
	}
	written, read := m.inodes.lastTransfers(ino)
	since := arrived.Add(-sendingTakes)
	if written.After(since) {
		since = written
	}
	if read.Before(since) {
		return
	}
	from, to, sure := m.race.overtaken(ino, off, off+int64(size), since, arrived)
	if from >= to {
		return
	}
	patience := 5 * time.Millisecond
	if sure {
		patience = 200 * time.Millisecond // a read of these pages may wait in the queue of this request
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.race.begin(ino)
		m.kernel.InodeNotify(m.node(ino), from, to-from)
		m.race.end(ino)
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

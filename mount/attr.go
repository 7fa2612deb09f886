//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"math"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

const (
	modeSetuid = 0o4000
	modeSetgid = 0o2000
	modeGroupX = 0o0010
	blockSize  = 4096
)

// setAttr fills in the attributes of an inode.
func (m *fileSystem) setAttr(a *fuse.Attr, n *store.Node) {
	*a = fuse.Attr{
		Ino: m.shown(n.Ino), Size: uint64(n.Size), Blocks: uint64(n.Size-n.Holes+511) / 512, Mode: n.Mode, Nlink: n.Nlink,
		Owner: fuse.Owner{Uid: n.UID, Gid: n.GID}, Rdev: kernelDevice(n.Rdev), Blksize: blockSize,
	}
	a.Mode &^= m.umask
	if m.uid != nil {
		a.Uid = *m.uid
	}
	if m.gid != nil {
		a.Gid = *m.gid
	}
	a.Atime, a.Atimensec = splitTime(n.Atime)
	a.Mtime, a.Mtimensec = splitTime(n.Mtime)
	a.Ctime, a.Ctimensec = splitTime(n.Ctime)
}

// splitTime returns seconds and the rest of a time in nanoseconds.
func splitTime(ns int64) (sec uint64, rest uint32) {
	t := time.Unix(0, ns)
	return uint64(t.Unix()), uint32(t.Nanosecond())
}

// kernelDevice returns a device number as the kernel's protocol has it, in 32 bits: those of the
// old st_rdev, with the upper bits of the minor number above.
func kernelDevice(rdev uint64) uint32 {
	major := uint32(rdev>>8&0xfff | rdev>>32&^0xfff)
	minor := uint32(rdev&0xff | rdev>>12&^0xff)
	return minor&0xff | major<<8 | minor&^0xff<<12
}

// device returns the st_rdev of a device number of the kernel's protocol.
func device(d uint32) uint64 {
	major, minor := uint64(d>>8&0xfff), uint64(d&0xff|d>>12&0xfff00)
	return minor&0xff | major&0xfff<<8 | minor&^0xff<<12 | major&^0xfff<<32
}

// answerAttr answers with the attributes of an inode.
func (m *fileSystem) answerAttr(out *fuse.AttrOut, n *store.Node, to asker) {
	out.AttrValid, out.AttrValidNsec = m.validity(to)
	m.setAttr(&out.Attr, n)
	out.Attr.Size = uint64(m.tell(n, 0, to))
}

// answerEntry answers with an entry, which the kernel will know.
func (m *fileSystem) answerEntry(out *fuse.EntryOut, dir store.Ino, name string, n *store.Node, to asker) {
	size := m.tell(n, 1, to)
	m.names.add(dir, name, n.Ino)
	if store.TypeOf(n.Mode) == store.Dir {
		m.inodes.parent(n.Ino, dir, name)
	}
	sec, nsec := m.validity(to)
	*out = fuse.EntryOut{NodeId: m.node(n.Ino), EntryValid: sec, EntryValidNsec: nsec, AttrValid: sec, AttrValidNsec: nsec}
	m.setAttr(&out.Attr, n)
	out.Attr.Size = uint64(size)
}

const fattrKillSuidgid = 1 << 11

// SetAttr implements fuse.RawFileSystem.
func (m *fileSystem) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	var before, n store.Node
	ino := m.ino(in.NodeId)
	to := changer(&in.InHeader)
	_, resized := in.GetSize()
	if resized {
		m.inodes.changing(ino)
	}
	st := m.change(&in.InHeader, func(c *change) (err error) {
		if n, err = c.Tx.Node(ino); err != nil {
			return err
		}
		before = n
		if need := needed(in); need != 0 {
			if err := c.checked(&n, need); err != nil {
				return err
			}
		}
		if size, ok := in.GetSize(); ok {
			if err := c.resize(&n, int64(size)); err != nil {
				return err
			}
		}
		if err := c.setAttr(&n, in); err != nil {
			return err
		}
		return c.Put(&before, &n)
	}, self(ino))
	switch {
	case resized:
		m.answerSize(out, ino, st, &before, &n, to)
	case st == fuse.OK:
		m.answerAttr(out, &n, to)
	}
	return st
}

// needed returns the rights that the caller of a request needs.
func needed(in *fuse.SetAttrIn) uint32 {
	const now = fuse.FATTR_ATIME | fuse.FATTR_MTIME | fuse.FATTR_ATIME_NOW | fuse.FATTR_MTIME_NOW
	switch what := in.Valid &^ (fattrKillSuidgid | fuse.FATTR_LOCKOWNER | fuse.FATTR_CTIME); {
	case what == 0, what == fuse.FATTR_SIZE|fuse.FATTR_FH: // of a file that was opened for writing
		return 0
	case what == fuse.FATTR_SIZE, what == now:
		return mayWrite
	}
	return mayOwn
}

// answerSize answers a request that has set the size of an inode, if the status says that it has.
// The answer does not wait for the kernel, which writes nothing to the file until it has come. The
// kernel forgets by itself what it must.
func (m *fileSystem) answerSize(out *fuse.AttrOut, ino store.Ino, st fuse.Status, before, n *store.Node, to asker) {
	if st != fuse.OK {
		m.inodes.changed(ino, nil)
		return
	}
	r := resize{before: before.Size, after: n.Size, start: n.Size, end: n.Size, thread: to.thread}
	if what, ok := m.inodes.changed(ino, &r); ok {
		m.grow(ino, what, n.Size, 0)
		m.inodes.late(ino)
	}
	m.inodes.answer(n, 0, to)
	out.AttrValid, out.AttrValidNsec = m.validity(to)
	m.setAttr(&out.Attr, n)
}

// setAttr sets the attributes that a request names, except the size.
func (c *change) setAttr(n *store.Node, in *fuse.SetAttrIn) error {
	if mode, ok := in.GetMode(); ok {
		n.Mode = n.Mode&store.ModeType | mode
	}
	if store.TypeOf(n.Mode) != store.Dir {
		if err := c.setPrivileges(n, in); err != nil {
			return err
		}
	}
	if uid, ok := in.GetUID(); ok {
		n.UID = uid
	}
	if gid, ok := in.GetGID(); ok {
		n.GID = gid
	}
	if in.Valid&fuse.FATTR_ATIME != 0 {
		n.Atime = c.timeOf(in.Valid&fuse.FATTR_ATIME_NOW != 0, in.Atime, in.Atimensec)
	}
	if in.Valid&fuse.FATTR_MTIME != 0 {
		n.Mtime = c.timeOf(in.Valid&fuse.FATTR_MTIME_NOW != 0, in.Mtime, in.Mtimensec)
	}
	n.Ctime = c.Now
	return nil
}

func (c *change) timeOf(now bool, sec uint64, nsec uint32) int64 {
	if now {
		return c.Now
	}
	return clampTime(int64(sec), nsec)
}

// clampTime returns a time in nanoseconds, or the nearest time that a volume can hold.
func clampTime(sec int64, nsec uint32) int64 {
	const limit = math.MaxInt64 / int64(time.Second)
	switch {
	case sec >= limit:
		return limit * int64(time.Second)
	case sec <= -limit:
		return -limit * int64(time.Second)
	}
	return sec*int64(time.Second) + int64(nsec)
}

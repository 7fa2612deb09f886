//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// OpenDir implements fuse.RawFileSystem. The answer means that it need not be called again, and
// that the kernel may keep the names of directories.
func (m *fileSystem) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	if m.observer == nil {
		return fuse.OK
	}
	return fuse.ENOSYS
}

// ReadDir implements fuse.RawFileSystem.
func (m *fileSystem) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	dir := m.ino(in.NodeId)
	return m.list(dir, in.Offset, int(in.Size)/leastDirent, func(_ store.Rx, e fuse.DirEntry, _ *store.Entry) bool { return out.AddDirEntry(e) })
}

// ReadDirPlus implements fuse.RawFileSystem.
func (m *fileSystem) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	dir, to := m.ino(in.NodeId), m.asker(&in.InHeader)
	return m.list(dir, in.Offset, int(in.Size)/leastDirentPlus, func(rx store.Rx, e fuse.DirEntry, of *store.Entry) bool {
		entry := out.AddDirLookupEntry(e)
		if entry == nil {
			return false
		}
		if of != nil {
			if n, err := m.nodeOf(rx, dir, of); err == nil { // else a lookup says what is wrong
				m.answerEntry(entry, dir, of.Name, &n, to)
			}
		}
		return true
	})
}

// listStep is how many entries are read at once, unless the store is on another machine: then all
// that the answer can hold.
const listStep = 128

// Bytes of the shortest struct fuse_dirent and fuse_direntplus.
const (
	leastDirent     = 32
	leastDirentPlus = 160
)

// list calls add with the entries of a directory behind a place, until it returns false. The first
// two are "." and "..", and are no entries of the volume.
func (m *fileSystem) list(dir store.Ino, cookie uint64, most int, add func(rx store.Rx, e fuse.DirEntry, of *store.Entry) bool) fuse.Status {
	after, ok := m.cookies.after(dir, cookie)
	if !ok {
		return fuse.EINVAL
	}
	m.inodes.listed(dir)
	step := listStep
	if m.walker != nil {
		step = max(step, most)
	}
	return m.viewAt(self(dir), store.NeedAnswer, func(rx store.Rx) error {
		var l store.Listing
		if err := rx.List(dir, after, step, &l); err != nil {
			return err
		}
		if len(l.Items) == 0 && cookie == cookieStart { // there may be no such directory
			n, err := rx.Node(dir)
			if err != nil {
				return err
			}
			if store.TypeOf(n.Mode) != store.Dir {
				return syscall.ENOTDIR
			}
		}
		if cookie < cookieDotDot && !m.listDots(rx, dir, cookie, add) {
			return nil
		}
		cookie = max(cookie, cookieDotDot)
		for len(l.Items) > 0 {
			for _, e := range l.Entries() {
				next := m.cookies.next(dir, cookie, e.Name)
				d := fuse.DirEntry{Name: e.Name, Ino: m.shown(e.Ino), Mode: modeOf(e.Type), Off: next}
				if !add(rx, d, &e) {
					return nil
				}
				cookie, after = next, e.Name
			}
			if len(l.Items) < step {
				return nil
			}
			l.Reset()
			if err := rx.List(dir, after, step, &l); err != nil {
				return err
			}
		}
		return nil
	})
}

// listDots adds "." and "..".
func (m *fileSystem) listDots(rx store.Rx, dir store.Ino, cookie uint64, add func(rx store.Rx, e fuse.DirEntry, of *store.Entry) bool) bool {
	if cookie == cookieStart && !add(rx, fuse.DirEntry{Name: ".", Ino: m.shown(dir), Mode: store.ModeDir, Off: cookieDot}, nil) {
		return false
	}
	up, ok := m.inodes.up(dir)
	if !ok {
		up.Dir = dir
	}
	return add(rx, fuse.DirEntry{Name: "..", Ino: m.shown(up.Dir), Mode: store.ModeDir, Off: cookieDotDot}, nil)
}

// modeOf returns the type bits of st_mode.
func modeOf(t store.Type) uint32 {
	return [...]uint32{
		store.File: store.ModeRegular, store.Dir: store.ModeDir, store.Symlink: store.ModeSymlink, store.Char: store.ModeChar,
		store.Block: store.ModeBlock, store.Fifo: store.ModeFifo, store.Socket: store.ModeSocket,
	}[t]
}

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
	return m.list(dir, in.Offset, func(_ store.Rx, e fuse.DirEntry, _ *store.Entry) bool { return out.AddDirEntry(e) })
}

// ReadDirPlus implements fuse.RawFileSystem.
func (m *fileSystem) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	dir, to := m.ino(in.NodeId), m.asker(&in.InHeader)
	return m.list(dir, in.Offset, func(rx store.Rx, e fuse.DirEntry, of *store.Entry) bool {
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

// listStep is how many entries are read at once.
const listStep = 128

// list calls add with the entries of a directory behind a place, until it returns false. The first
// two are "." and "..", and are no entries of the volume.
func (m *fileSystem) list(dir store.Ino, cookie uint64, add func(rx store.Rx, e fuse.DirEntry, of *store.Entry) bool) fuse.Status {
	after, ok := m.cookies.after(dir, cookie)
	if !ok {
		return fuse.EINVAL
	}
	m.inodes.listed(dir)
	return m.view(func(rx store.Rx) error {
		n, err := rx.Node(dir)
		if err != nil {
			return err
		}
		if store.TypeOf(n.Mode) != store.Dir {
			return syscall.ENOTDIR
		}
		if cookie < cookieDotDot && !m.listDots(rx, dir, cookie, add) {
			return nil
		}
		cookie = max(cookie, cookieDotDot)
		var l store.Listing
		for {
			l.Reset()
			if err := rx.List(dir, after, listStep, &l); err != nil || len(l.Items) == 0 {
				return err
			}
			for _, e := range l.Entries() {
				next := m.cookies.next(dir, cookie, e.Name)
				d := fuse.DirEntry{Name: e.Name, Ino: m.shown(e.Ino), Mode: modeOf(e.Type), Off: next}
				if !add(rx, d, &e) {
					return nil
				}
				cookie, after = next, e.Name
			}
		}
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

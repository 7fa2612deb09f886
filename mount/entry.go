//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/store"
)

// Lookup implements fuse.RawFileSystem.
func (m *fileSystem) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	dir := m.ino(in.NodeId)
	return m.view(func(rx store.Rx) error {
		e, err := rx.Lookup(dir, name)
		missing := errors.Is(err, fs.ErrNotExist)
		if missing && len(name) > maxName {
			return syscall.ENAMETOOLONG
		}
		if missing && m.observer != nil { // a name that is not there is an answer, too
			if !m.names.addMissing(dir, name) {
				return syscall.ENOENT
			}
			*out = fuse.EntryOut{EntryValid: m.ttl}
			return nil
		}
		if err != nil {
			return err
		}
		n, err := m.nodeOf(rx, dir, &e)
		if err == nil {
			m.answerEntry(out, dir, name, &n)
		}
		return err
	})
}

// nodeOf returns the inode of an entry. A volume from elsewhere may have entries that lead to no
// inode, to one of another type, or back to the root.
func (m *fileSystem) nodeOf(rx store.Rx, dir store.Ino, e *store.Entry) (n store.Node, err error) {
	n, err = rx.Node(e.Ino)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n, store.Damaged("entry %q of inode %d leads to no inode", e.Name, dir)
	case err != nil:
		return n, err
	case store.TypeOf(n.Mode) != e.Type || e.Ino == m.root || e.Ino == dir:
		return n, store.Damaged("entry %q of inode %d has another type, or leads back", e.Name, dir)
	}
	return n, nil
}

// Forget implements fuse.RawFileSystem.
func (m *fileSystem) Forget(node, nlookup uint64) { m.told.forget(m.ino(node), nlookup) }

// make makes an inode with a name, and answers with it.
func (m *fileSystem) make(in *fuse.InHeader, name string, mode uint32, rdev uint64, content []byte, out *fuse.EntryOut) fuse.Status {
	var n store.Node
	dir := m.ino(in.NodeId)
	st := m.changeBy(len(content), func(c *change) error {
		n = store.Node{Mode: mode}
		if n.IsDevice() {
			n.Rdev = rdev
		}
		return c.add(dir, name, &n, in.Owner, content)
	})
	if st == fuse.OK {
		m.answerEntry(out, dir, name, &n)
	}
	return st
}

// Mknod implements fuse.RawFileSystem.
func (m *fileSystem) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.make(&in.InHeader, name, in.Mode, device(in.Rdev), nil, out)
}

// Mkdir implements fuse.RawFileSystem.
func (m *fileSystem) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.make(&in.InHeader, name, store.ModeDir|in.Mode&0o7777, 0, nil, out)
}

// Symlink implements fuse.RawFileSystem.
func (m *fileSystem) Symlink(_ <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	if target == "" {
		return fuse.ENOENT
	}
	if len(target) > store.MaxPath {
		return fuse.Status(syscall.ENAMETOOLONG)
	}
	return m.make(in, name, store.ModeSymlink|0o777, 0, []byte(target), out)
}

// Create implements fuse.RawFileSystem. The kernel calls it for a name that it takes for free.
func (m *fileSystem) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	st := m.make(&in.InHeader, name, store.ModeRegular|in.Mode&0o7777, 0, nil, &out.EntryOut)
	if st == fuse.Status(syscall.EEXIST) && in.Flags&syscall.O_EXCL == 0 { // another process was faster
		st = m.openExisting(in, name, out)
	}
	out.OpenFlags = openFlags(in)
	return st
}

// openExisting opens a file that was made a moment ago.
func (m *fileSystem) openExisting(in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	var n store.Node
	dir := m.ino(in.NodeId)
	st := m.change(func(c *change) error {
		e, err := c.tx.Lookup(dir, name)
		if err != nil {
			return err
		}
		if n, err = c.tx.Node(e.Ino); err != nil || in.Flags&syscall.O_TRUNC == 0 || !n.IsRegular() {
			return err
		}
		before := n
		if err := c.resize(&n, 0); err != nil {
			return err
		}
		return c.put(&before, &n)
	})
	if st == fuse.OK {
		m.answerEntry(&out.EntryOut, dir, name, &n)
	}
	return st
}

// Tmpfile implements fuse.RawFileSystem: a file without a name.
func (m *fileSystem) Tmpfile(_ <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	var n store.Node
	dir := m.ino(in.NodeId)
	st := m.change(func(c *change) error {
		d, err := c.directory(dir)
		if err != nil {
			return err
		}
		n = store.Node{Mode: store.ModeRegular | in.Mode&0o7777}
		c.inherit(&n, &d, in.Owner)
		if err := c.tx.Insert(&n); err != nil {
			return err
		}
		if err := m.told.pin(n.Ino, true); err != nil {
			return err
		}
		return c.tx.Orphan(&n)
	})
	if st != fuse.OK {
		return st
	}
	m.told.entry(&n)
	out.EntryOut = fuse.EntryOut{NodeId: m.node(n.Ino), AttrValid: m.ttl}
	m.setAttr(&out.Attr, &n)
	out.OpenFlags = openFlags(in)
	return fuse.OK
}

// Link implements fuse.RawFileSystem.
func (m *fileSystem) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	var n store.Node
	dir := m.ino(in.NodeId)
	st := m.change(func(c *change) (err error) {
		n, err = c.link(m.ino(in.Oldnodeid), dir, name)
		return err
	})
	if st == fuse.OK {
		m.answerEntry(out, dir, name, &n)
	}
	return st
}

func (c *change) link(ino, dir store.Ino, name string) (n store.Node, err error) {
	d, err := c.directory(dir)
	if err == nil {
		n, err = c.tx.Node(ino)
	}
	if err == nil {
		err = c.free(dir, name)
	}
	switch {
	case err != nil:
		return n, err
	case store.TypeOf(n.Mode) == store.Dir:
		return n, syscall.EPERM
	case n.Nlink == 1<<32-1:
		return n, syscall.EMLINK
	}
	before := n
	n.Nlink++
	n.Ctime = c.now
	if before.Nlink == 0 {
		err = c.tx.Adopt(&n)
	} else {
		err = c.tx.Put(&n)
	}
	if err != nil {
		return n, err
	}
	c.fs.told.change(&before, &n)
	if err := c.tx.Link(dir, store.Entry{Name: name, Ino: ino, Type: store.TypeOf(n.Mode)}); err != nil {
		return n, err
	}
	return n, c.touch(&d, 0)
}

// Unlink implements fuse.RawFileSystem.
func (m *fileSystem) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return m.change(func(c *change) error { return c.remove(m.ino(in.NodeId), name, false) })
}

// Rmdir implements fuse.RawFileSystem.
func (m *fileSystem) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return m.change(func(c *change) error { return c.remove(m.ino(in.NodeId), name, true) })
}

func (c *change) remove(dir store.Ino, name string, isDir bool) error {
	d, err := c.directory(dir)
	if err != nil {
		return err
	}
	e, err := c.tx.Lookup(dir, name)
	switch {
	case err != nil:
		return err
	case isDir && e.Type != store.Dir:
		return syscall.ENOTDIR
	case !isDir && e.Type == store.Dir:
		return syscall.EISDIR
	}
	dirs := 0
	if isDir {
		dirs = -1
		if err := c.mustBeEmpty(e.Ino); err != nil {
			return err
		}
	}
	n, err := c.tx.Node(e.Ino)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	missing := err != nil // in a damaged volume
	if err := c.tx.Unlink(dir, name); err != nil {
		return err
	}
	if !missing {
		if err := c.drop(&n); err != nil {
			return err
		}
	}
	return c.touch(&d, dirs)
}

// Rename implements fuse.RawFileSystem.
func (m *fileSystem) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldname, newname string) fuse.Status {
	if in.Flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 || in.Flags == unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE {
		return fuse.EINVAL
	}
	from := place{m.ino(in.NodeId), oldname}
	to := place{m.ino(in.Newdir), newname}
	var moved, replaced store.Entry
	st := m.change(func(c *change) (err error) {
		moved, replaced, err = c.rename(from, to, in.Flags)
		return err
	})
	if st != fuse.OK {
		return st
	}
	m.tellMoved(&moved, to)
	if in.Flags&unix.RENAME_EXCHANGE != 0 {
		m.tellMoved(&replaced, from)
	}
	return st
}

// tellMoved notes that the kernel knows an entry at its new place.
func (m *fileSystem) tellMoved(e *store.Entry, at place) {
	m.names.add(at.dir, at.name, e.Ino)
	if e.Type == store.Dir {
		m.told.parent(e.Ino, at.dir, at.name)
	}
}

// A place is a name in a directory.
type place struct {
	dir  store.Ino
	name string
}

func (c *change) rename(from, to place, flags uint32) (moved, replaced store.Entry, err error) {
	if len(to.name) > maxName {
		return moved, replaced, syscall.ENAMETOOLONG
	}
	if _, err = c.directory(from.dir); err == nil {
		_, err = c.directory(to.dir)
	}
	if err != nil {
		return moved, replaced, err
	}
	if moved, err = c.tx.Lookup(from.dir, from.name); err != nil {
		return moved, replaced, err
	}
	replaced, err = c.tx.Lookup(to.dir, to.name)
	there := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return moved, replaced, err
	case !there && flags&unix.RENAME_EXCHANGE != 0:
		return moved, replaced, syscall.ENOENT
	case there && flags&unix.RENAME_NOREPLACE != 0:
		return moved, replaced, syscall.EEXIST
	case there && moved.Ino == replaced.Ino: // two names of one file stay
		return moved, replaced, nil
	}
	if err := c.mayEnter(&moved, from, to); err != nil {
		return moved, replaced, err
	}
	if flags&unix.RENAME_EXCHANGE != 0 {
		if err := c.mayEnter(&replaced, to, from); err != nil {
			return moved, replaced, err
		}
		return moved, replaced, c.exchange(from, to, moved, replaced)
	}
	if there {
		if err := c.mayReplace(&moved, &replaced); err != nil {
			return moved, replaced, err
		}
	}
	return moved, replaced, c.move(from, to, moved, replaced, there)
}

// mayEnter returns EINVAL if a directory would come to lie within itself.
func (c *change) mayEnter(e *store.Entry, from, to place) error {
	if e.Type != store.Dir || from.dir == to.dir {
		return nil
	}
	for dir, steps := to.dir, 0; dir != c.fs.root; steps++ {
		if dir == e.Ino {
			return syscall.EINVAL
		}
		up, ok := c.fs.told.up(dir)
		if !ok || steps == maxDepth {
			return syscall.EIO
		}
		if found, err := c.tx.Lookup(up.dir, up.name); err != nil || found.Ino != dir {
			return syscall.ESTALE // another process has moved it a moment ago
		}
		dir = up.dir
	}
	if e.Ino == to.dir {
		return syscall.EINVAL
	}
	return nil
}

// maxDepth is how many directories can lie in each other.
const maxDepth = 1 << 16

// mayReplace returns an error unless a rename can replace an entry.
func (c *change) mayReplace(moved, replaced *store.Entry) error {
	switch {
	case moved.Type == store.Dir && replaced.Type != store.Dir:
		return syscall.ENOTDIR
	case moved.Type != store.Dir && replaced.Type == store.Dir:
		return syscall.EISDIR
	case replaced.Type == store.Dir:
		return c.mustBeEmpty(replaced.Ino)
	}
	return nil
}

// move moves an entry to a place, where there may be an entry, which goes.
func (c *change) move(from, to place, moved, replaced store.Entry, there bool) error {
	if there {
		n, err := c.tx.Node(replaced.Ino)
		if err == nil {
			err = c.drop(&n)
		}
		if err != nil {
			return err
		}
	}
	if err := c.tx.Unlink(from.dir, from.name); err != nil {
		return err
	}
	if err := c.arrive(moved, to); err != nil {
		return err
	}
	out, in := 0, 0
	if moved.Type == store.Dir {
		out, in = -1, 1
	}
	if there && replaced.Type == store.Dir {
		in--
	}
	return c.touchBoth(from.dir, to.dir, out, in)
}

// exchange lets two entries change places.
func (c *change) exchange(from, to place, moved, replaced store.Entry) error {
	if err := c.arrive(moved, to); err != nil {
		return err
	}
	if err := c.arrive(replaced, from); err != nil {
		return err
	}
	in := 0
	if moved.Type == store.Dir {
		in++
	}
	if replaced.Type == store.Dir {
		in--
	}
	return c.touchBoth(from.dir, to.dir, -in, in)
}

// arrive links an inode at a place.
func (c *change) arrive(e store.Entry, at place) error {
	n, err := c.tx.Node(e.Ino)
	if err != nil {
		return err
	}
	e.Name = at.name
	if err := c.tx.Link(at.dir, e); err != nil {
		return err
	}
	before := n
	n.Ctime = c.now
	return c.put(&before, &n)
}

// touchBoth is touch for the two directories of a rename, which may be one.
func (c *change) touchBoth(from, to store.Ino, out, in int) error {
	dirs := map[store.Ino]int{from: out}
	dirs[to] += in
	for ino, by := range dirs {
		n, err := c.tx.Node(ino)
		if err == nil {
			err = c.touch(&n, by)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openFlags returns how the kernel opens a new file. The writes of a program that only writes it go
// past the caches of the kernel: they come here at once in any case, and the kernel does not ask
// for security.capability first.
func openFlags(in *fuse.CreateIn) uint32 {
	if in.Flags&syscall.O_ACCMODE == syscall.O_WRONLY {
		return fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_DIRECT_IO | fuse.FOPEN_PARALLEL_DIRECT_WRITES
	}
	return fuse.FOPEN_KEEP_CACHE
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/store"
)

// lookUp returns the inode to which a name of a directory leads.
func (m *fileSystem) lookUp(rx store.Rx, dir store.Ino, name string) (n store.Node, err error) {
	e, err := rx.Lookup(dir, name)
	if err != nil {
		return n, err
	}
	return m.nodeOf(rx, dir, &e)
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
func (m *fileSystem) Forget(node, nlookup uint64) { m.inodes.forget(m.ino(node), nlookup) }

// make makes an inode with a name, and answers with it.
func (m *fileSystem) make(in *fuse.InHeader, name string, mode uint32, rdev uint64, content []byte, out *fuse.EntryOut) fuse.Status {
	var n store.Node
	dir, to := m.ino(in.NodeId), m.asker(in)
	st := m.changeBy(in, len(content), func(c *change) error {
		n = store.Node{Mode: mode}
		if n.IsDevice() {
			n.Rdev = rdev
		}
		return c.add(dir, name, &n, content)
	}, store.Path{Top: dir, Name: name})
	if st == fuse.OK {
		m.answerEntry(out, dir, name, &n, to)
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

// Create implements fuse.RawFileSystem. The kernel calls it for a name that it takes for free, and
// opens the new file without a look at the permissions.
func (m *fileSystem) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	var n store.Node
	dir, to := m.ino(in.NodeId), changer(&in.InHeader)
	st := m.change(&in.InHeader, func(c *change) error {
		n = store.Node{Mode: store.ModeRegular | in.Mode&0o7777}
		err := c.add(dir, name, &n, nil)
		if errors.Is(err, syscall.EEXIST) && in.Flags&syscall.O_EXCL == 0 { // another process was faster
			n, err = c.openExisting(dir, name, in)
		}
		return err
	}, store.Path{Top: dir, Name: name})
	if st == fuse.OK {
		m.answerEntry(&out.EntryOut, dir, name, &n, to)
		out.OpenFlags, out.Fh = openFlags(in)
		if m.confirms() { // the kernel asks for the attributes again, before open(2) returns
			m.confirmed.created(in.Pid, n, m.inodes.clock.Load())
		}
	}
	return st
}

// openExisting opens a file that was made a moment ago.
func (c *change) openExisting(dir store.Ino, name string, in *fuse.CreateIn) (n store.Node, err error) {
	d, err := c.Tx.Node(dir)
	if err != nil {
		return n, err
	}
	e, err := c.Tx.Lookup(dir, name)
	if err == nil {
		n, err = c.Tx.Node(e.Ino)
	}
	if err == nil {
		err = c.mayOpen(&d, &n, in)
	}
	if err != nil || in.Flags&syscall.O_TRUNC == 0 {
		return n, err
	}
	before := n
	if err := c.resize(&n, 0); err != nil {
		return n, err
	}
	if err := c.dropPrivileges(&n, c.losesBits(&n)); err != nil {
		return n, err
	}
	return n, c.Put(&before, &n)
}

// Tmpfile implements fuse.RawFileSystem: a file without a name.
func (m *fileSystem) Tmpfile(_ <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	var n store.Node
	dir, to := m.ino(in.NodeId), m.asker(&in.InHeader)
	st := m.change(&in.InHeader, func(c *change) error {
		m.inodes.forget(n.Ino, 0) // the transaction runs again
		d, err := c.directory(dir)
		if err != nil {
			return err
		}
		n = store.Node{Mode: store.ModeRegular | in.Mode&0o7777, UID: in.Uid, GID: in.Gid}
		if err := c.CreateUnnamed(&d, &n); err != nil {
			return err
		}
		if err := m.inodes.pin(n.Ino, true); err != nil {
			return err
		}
		return c.Tx.Orphan(&n)
	}, self(dir))
	if st != fuse.OK {
		m.inodes.forget(n.Ino, 0)
		return st
	}
	m.tell(&n, 1, to)
	out.EntryOut = fuse.EntryOut{NodeId: m.node(n.Ino)}
	out.AttrValid, out.AttrValidNsec = m.validity(to)
	m.setAttr(&out.Attr, &n)
	out.OpenFlags, out.Fh = openFlags(in)
	return fuse.OK
}

// Link implements fuse.RawFileSystem.
func (m *fileSystem) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	var n store.Node
	dir, to := m.ino(in.NodeId), changer(&in.InHeader)
	st := m.change(&in.InHeader, func(c *change) (err error) {
		n, err = c.link(m.ino(in.Oldnodeid), dir, name)
		return err
	}, store.Path{Top: dir, Name: name}, self(m.ino(in.Oldnodeid)))
	if st == fuse.OK {
		m.answerEntry(out, dir, name, &n, to)
	}
	return st
}

func (c *change) link(ino, dir store.Ino, name string) (n store.Node, err error) {
	d, err := c.directory(dir)
	if err == nil {
		n, err = c.Tx.Node(ino)
	}
	if err == nil {
		err = c.free(dir, name)
	}
	switch {
	case err != nil:
		return n, err
	case store.TypeOf(n.Mode) == store.Dir:
		return n, syscall.EPERM
	case n.Nlink == inode.MaxNlink:
		return n, syscall.EMLINK
	}
	need := uint32(mayOwn)
	if c.in.Uid != c.fs.owner(&n) && n.IsRegular() && n.Mode&(modeSetuid|modeSetgid) == 0 {
		need = mayLink
	}
	if err := c.checked(&n, need); err != nil {
		return n, err
	}
	return n, c.Link(&d, name, &n)
}

// Unlink implements fuse.RawFileSystem.
func (m *fileSystem) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	at := store.Path{Top: m.ino(in.NodeId), Name: name}
	return m.change(in, func(c *change) error { return c.remove(at.Top, name, false) }, at)
}

// Rmdir implements fuse.RawFileSystem.
func (m *fileSystem) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	at := store.Path{Top: m.ino(in.NodeId), Name: name}
	return m.change(in, func(c *change) error { return c.remove(at.Top, name, true) }, at)
}

func (c *change) remove(dir store.Ino, name string, isDir bool) error {
	d, err := c.directory(dir)
	if err != nil {
		return err
	}
	e, err := c.Tx.Lookup(dir, name)
	switch {
	case err != nil:
		return err
	case isDir && e.Type != store.Dir:
		return syscall.ENOTDIR
	case !isDir && e.Type == store.Dir:
		return syscall.EISDIR
	}
	n, err := c.Tx.Node(e.Ino)
	missing := errors.Is(err, fs.ErrNotExist) // in a damaged volume
	if err == nil {
		err = c.mayRemove(&d, &n, name)
	}
	if err != nil && !missing {
		return err
	}
	dirs := 0
	if isDir {
		dirs = -1
		if err := c.mustBeEmpty(e.Ino); err != nil {
			return err
		}
	}
	if err := c.Unlink(dir, e); err != nil {
		return err
	}
	return c.Touch(dir, dirs)
}

// openFlags returns how the kernel opens a new file. The writes of a program that only writes it go
// past the caches of the kernel: they come here at once in any case, and the kernel does not ask
// for security.capability first. handle is what such a write comes with.
func openFlags(in *fuse.CreateIn) (flags uint32, handle uint64) {
	if in.Flags&syscall.O_ACCMODE == syscall.O_WRONLY {
		return fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_DIRECT_IO | fuse.FOPEN_PARALLEL_DIRECT_WRITES, pastCache
	}
	return fuse.FOPEN_KEEP_CACHE, 0
}

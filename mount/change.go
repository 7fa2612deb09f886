//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// A change is one request in a write transaction. Its methods check first and change then.
type change struct {
	fs  *fileSystem
	tx  store.Tx
	in  *fuse.InHeader // says who wants it
	now int64          // nanoseconds since 1970
}

// put replaces an inode, of which the transaction knew before what it was.
func (c *change) put(before, n *store.Node) error {
	if err := c.tx.Put(n); err != nil {
		return err
	}
	c.fs.told.change(before, n)
	return nil
}

// resize sets the size of a regular file.
func (c *change) resize(n *store.Node, size int64) error {
	switch {
	case store.TypeOf(n.Mode) == store.Dir:
		return syscall.EISDIR
	case !n.IsRegular():
		return syscall.EINVAL
	case size < 0 || size > store.MaxSize:
		return syscall.EFBIG
	}
	if err := c.tx.Truncate(n, size); err != nil {
		return err
	}
	n.Mtime, n.Ctime = c.now, c.now
	return nil
}

// maxName is the longest name that is made here; longer ones that are there can be used.
const maxName = 255

// directory returns a directory in which a name is to be made or removed, if the kernel has checked
// the rights that it has.
func (c *change) directory(ino store.Ino) (store.Node, error) {
	n, err := c.tx.Node(ino)
	switch {
	case err != nil:
		return n, err
	case store.TypeOf(n.Mode) != store.Dir:
		return n, syscall.ENOTDIR
	case n.Nlink == 0:
		return n, syscall.ENOENT
	}
	return n, c.checked(&n, mayEnter)
}

// free returns nil if a name can be made in a directory.
func (c *change) free(dir store.Ino, name string) error {
	if len(name) > maxName {
		return syscall.ENAMETOOLONG
	}
	_, err := c.tx.Lookup(dir, name)
	switch {
	case err == nil:
		return syscall.EEXIST
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// add makes an inode with a name in a directory. The caller has set its mode, and may have set its
// content.
func (c *change) add(dir store.Ino, name string, n *store.Node, content []byte) error {
	d, err := c.directory(dir)
	if err == nil {
		err = c.free(dir, name)
	}
	if err != nil {
		return err
	}
	isDir := store.TypeOf(n.Mode) == store.Dir
	c.inherit(n, &d)
	if err := c.tx.Insert(n); err != nil {
		return err
	}
	if len(content) > 0 {
		if err := c.tx.WriteAt(n, content, 0); err != nil {
			return err
		}
		if err := c.tx.Put(n); err != nil {
			return err
		}
	}
	if err := c.tx.Link(dir, store.Entry{Name: name, Ino: n.Ino, Type: store.TypeOf(n.Mode)}); err != nil {
		return err
	}
	dirs := 0
	if isDir {
		dirs = 1
	}
	return c.touch(&d, dirs)
}

// inherit sets the owner and the times of a new inode in a directory.
func (c *change) inherit(n, dir *store.Node) {
	n.Nlink, n.UID, n.GID = 1, c.in.Uid, c.in.Gid
	n.Atime, n.Mtime, n.Ctime = c.now, c.now, c.now
	isDir := store.TypeOf(n.Mode) == store.Dir
	if isDir {
		n.Nlink = 2
	}
	if dir.Mode&modeSetgid != 0 {
		n.GID = dir.GID
		if isDir {
			n.Mode |= modeSetgid
		}
	}
}

// touch notes in a directory that its entries changed, and by how many the directories among them.
func (c *change) touch(d *store.Node, dirs int) error {
	before := *d
	d.Mtime, d.Ctime = c.now, c.now
	d.Nlink += uint32(dirs)
	return c.put(&before, d)
}

// drop takes a name from an inode. If that was the last one, the inode is pinned until the kernel
// forgets it.
func (c *change) drop(n *store.Node) error {
	before := *n
	n.Ctime = c.now
	if store.TypeOf(n.Mode) != store.Dir && n.Nlink > 1 {
		n.Nlink--
		return c.put(&before, n)
	}
	if err := c.fs.told.pin(n.Ino, false); err != nil {
		return err
	}
	if err := c.tx.Orphan(n); err != nil {
		return err
	}
	c.fs.told.change(&before, n)
	return nil
}

// mustBeEmpty returns an error unless a directory has no entries.
func (c *change) mustBeEmpty(dir store.Ino) error {
	var l store.Listing
	err := c.tx.List(dir, "", 1, &l)
	if err == nil && len(l.Items) > 0 {
		err = syscall.ENOTEMPTY
	}
	return err
}

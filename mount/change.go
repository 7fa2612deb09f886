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

// A change is one request in a write transaction. Its methods check first and change then.
type change struct {
	inode.Change
	fs     *fileSystem
	in     *fuse.InHeader // says who wants it
	states []transition   // of the inodes that it has changed, in order
}

// A transition is a change of the attributes of an inode. What the kernel is known to have follows
// it once the transaction is committed.
type transition struct {
	ino                       store.Ino
	attrsBefore, attrsAfter   attrHash
	rightsBefore, rightsAfter uint32
}

// Changed implements inode.Observer.
func (c *change) Changed(before, after *store.Node) {
	t := &c.fs.inodes
	c.states = append(c.states, transition{before.Ino, t.attrHash(before), t.attrHash(after), t.hashRights(before), t.hashRights(after)})
}

// Orphaned implements inode.Observer: it pins the inode until the kernel forgets it.
func (c *change) Orphaned(ino store.Ino) error { return c.fs.inodes.pin(ino, false) }

// committed says that the transaction is committed, and that the kernel knows of the change.
func (c *change) committed() {
	for i := range c.states {
		c.fs.inodes.change(&c.states[i])
	}
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
	return c.Truncate(n, size)
}

// maxName is the longest name that is made here; longer ones that are there can be used.
const maxName = 255

// directory returns a directory in which a name is to be made or removed, if the kernel has checked
// the rights that it has.
func (c *change) directory(ino store.Ino) (store.Node, error) {
	n, err := c.Tx.Node(ino)
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
	_, err := c.Tx.Lookup(dir, name)
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
	n.UID, n.GID = c.in.Uid, c.in.Gid
	return c.Create(&d, name, n, content)
}

// mustBeEmpty returns an error unless a directory has no entries.
func (c *change) mustBeEmpty(dir store.Ino) error {
	empty, err := c.IsEmpty(dir)
	if err == nil && !empty {
		err = syscall.ENOTEMPTY
	}
	return err
}

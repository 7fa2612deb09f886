// Package inode creates, links, unlinks, renames and changes inodes in a write transaction of a
// store. Packages folio and mount share it. It knows inodes, and names in a directory. Paths,
// permissions and the caches of the kernel are the business of its callers.
//
// Its methods keep the link counts and times of inodes and directories as POSIX has them. They
// check first and change then, so that a method that returns one of its own errors has changed
// nothing. After an error of the store the transaction cannot be committed.
package inode

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A Change changes inodes in a write transaction, at one time. One goroutine may use it at a time.
type Change struct {
	Tx       store.Tx
	Now      int64    // nanoseconds since 1970
	Observer Observer // nil if nobody needs to know

	// Inodes that a method works on, so that it does not allocate them.
	dir, node, before store.Node
}

// An Observer follows the inodes that exist before a transaction. A transaction may still be rolled
// back after a call.
type Observer interface {
	// Changed says that an inode was replaced. The arguments are valid during the call.
	Changed(before, after *store.Node)
	// Orphaned is called before an inode loses its last name. An error of it stops the change.
	Orphaned(ino store.Ino) error
}

// Put replaces an inode. before is the inode as the transaction read it; nil is allowed if there is
// no Observer.
func (c *Change) Put(before, n *store.Node) error {
	err := c.Tx.Put(n)
	if err == nil && c.Observer != nil {
		c.Observer.Changed(before, n)
	}
	return err
}

// put is Put for an inode that was copied to c.before.
func (c *Change) put(n *store.Node) error { return c.Put(&c.before, n) }

// Create inserts n as a new inode, and links it in a directory where there is no such name. The
// caller sets mode, owner and group of n; a directory with setgid passes its group on. n.Size is
// the size of the content, which may be nil if the caller writes it.
func (c *Change) Create(dir *store.Node, name string, n *store.Node, content []byte) error {
	n.Nlink, n.Size = 1, max(n.Size, int64(len(content)))
	n.Atime, n.Mtime, n.Ctime = c.Now, c.Now, c.Now
	Inherit(n, dir)
	dirs := 0
	if store.TypeOf(n.Mode) == store.Dir {
		n.Nlink, dirs = 2, 1
	}
	if err := c.Tx.Insert(n); err != nil {
		return err
	}
	if len(content) > 0 {
		n.Size = 0
		if err := c.Tx.WriteAt(n, content, 0); err != nil {
			return err
		}
	}
	if err := c.Tx.Link(dir.Ino, store.Entry{Name: name, Ino: n.Ino, Type: store.TypeOf(n.Mode)}); err != nil {
		return err
	}
	return c.touch(dir, dirs)
}

// CreateUnnamed inserts n as a new file that has no name yet.
func (c *Change) CreateUnnamed(dir, n *store.Node) error {
	n.Nlink = 1
	n.Atime, n.Mtime, n.Ctime = c.Now, c.Now, c.Now
	Inherit(n, dir)
	return c.Tx.Insert(n)
}

// Inherit gives a new inode the group of its directory if that has setgid.
func Inherit(n, dir *store.Node) {
	if dir.Mode&posix.ModeSetgid == 0 {
		return
	}
	n.GID = dir.GID
	if store.TypeOf(n.Mode) == store.Dir {
		n.Mode |= posix.ModeSetgid
	}
}

// Touch updates the times of a directory after a change of its entries, and its link count by the
// directories that were added or removed.
func (c *Change) Touch(ino store.Ino, dirs int) (err error) {
	if c.dir, err = c.Tx.Node(ino); err != nil {
		return err
	}
	return c.touch(&c.dir, dirs)
}

func (c *Change) touch(dir *store.Node, dirs int) error {
	c.before = *dir
	dir.Mtime, dir.Ctime = c.Now, c.Now
	dir.Nlink += uint32(dirs)
	return c.put(dir)
}

// MaxNlink is the largest link count.
const MaxNlink = 1<<32 - 1

// Link gives an inode another name in a directory, where there is no such name. The inode must be
// no directory, and have fewer than MaxNlink names. If it has none, it must be pinned.
func (c *Change) Link(dir *store.Node, name string, n *store.Node) error {
	c.before = *n
	n.Nlink++
	n.Ctime = c.Now
	var err error
	switch {
	case c.before.Nlink > 0:
		err = c.put(n)
	default:
		if err = c.Tx.Adopt(n); err == nil && c.Observer != nil {
			c.Observer.Changed(&c.before, n)
		}
	}
	if err != nil {
		return err
	}
	if err := c.Tx.Link(dir.Ino, store.Entry{Name: name, Ino: n.Ino, Type: store.TypeOf(n.Mode)}); err != nil {
		return err
	}
	return c.touch(dir, 0)
}

// Unlink removes an entry of a directory and, if that was its last name, its inode. It does not
// touch the directory, and does not look whether a directory is empty. In a damaged volume there
// may be no inode.
func (c *Change) Unlink(dir store.Ino, e store.Entry) error {
	n, err := c.Tx.Node(e.Ino)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if err := c.Tx.Unlink(dir, e.Name); err != nil || missing {
		return err
	}
	c.node = n
	return c.Drop(&c.node)
}

// Drop takes a name from an inode, and orphans it if that was its last one. The entry is gone
// already, or leads to another inode.
func (c *Change) Drop(n *store.Node) error {
	c.before = *n
	n.Ctime = c.Now
	if store.TypeOf(n.Mode) != store.Dir && n.Nlink > 1 {
		n.Nlink--
		return c.put(n)
	}
	if c.Observer != nil {
		if err := c.Observer.Orphaned(n.Ino); err != nil {
			return err
		}
	}
	if err := c.Tx.Orphan(n); err != nil {
		return err
	}
	if c.Observer != nil {
		c.Observer.Changed(&c.before, n)
	}
	return nil
}

// IsEmpty reports whether a directory has no entries.
func (c *Change) IsEmpty(dir store.Ino) (bool, error) {
	var l store.Listing
	err := c.Tx.List(dir, "", 1, &l)
	return len(l.Items) == 0, err
}

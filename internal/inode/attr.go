package inode

import (
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

const modeGroupExecute = 0o010

// Chmod sets the permissions in the low 12 bits of mode. The caller must put n.
func (c *Change) Chmod(n *store.Node, mode uint32) {
	n.Mode = n.Mode&store.ModeType | mode&^store.ModeType
	n.Ctime = c.Now
}

// ClearSetID takes setuid and setgid from a file after its owner or content has changed, so that a
// program does not run as its owner did not mean it. As on Linux, setgid stays if the group may not
// execute the file and inGroup says that the caller may set it.
func ClearSetID(n *store.Node, inGroup func() bool) {
	n.Mode &^= posix.ModeSetuid
	if n.Mode&posix.ModeSetgid != 0 && n.Mode&modeGroupExecute == 0 && inGroup() {
		return
	}
	n.Mode &^= posix.ModeSetgid
}

// Xattr reports whether an inode has an extended attribute, and the bytes of names and values of
// all others. It returns the bytes that it read even if there is an error.
func (c *Change) Xattr(ino store.Ino, name string) (exists bool, others int, err error) {
	list, err := c.Tx.Xattrs(ino)
	for _, x := range list {
		if x.Name == name {
			exists = true
		} else {
			others += len(x.Name) + len(x.Value)
		}
	}
	return exists, others, err
}

// SetXattr sets an extended attribute, or removes it if value is nil.
func (c *Change) SetXattr(n *store.Node, name string, value []byte) error {
	if err := c.Tx.SetXattr(n.Ino, name, value); err != nil {
		return err
	}
	c.before = *n
	n.Ctime = c.Now
	return c.put(n)
}

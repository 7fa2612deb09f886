package folio

import (
	"cmp"
	"fmt"
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/store"
)

// chmod sets the permissions of an inode.
func (c *change) chmod(n *store.Node, mode fs.FileMode) error {
	m, _ := posixMode(mode &^ fs.ModeType)
	n.Mode = n.Mode&store.ModeType | m&^store.ModeType
	n.Ctime = c.now
	return c.tx.Put(n)
}

// chown sets owner and group of an inode; -1 leaves one as it is.
func (c *change) chown(n *store.Node, uid, gid int) error {
	if uid != -1 {
		n.UID = uint32(uid)
	}
	if gid != -1 {
		n.GID = uint32(gid)
	}
	if store.TypeOf(n.Mode) != store.Dir { // a program must not run in another name than its owner meant
		n.Mode &^= modeSetuid
		if n.Mode&groupExecute != 0 {
			n.Mode &^= modeSetgid
		}
	}
	n.Ctime = c.now
	return c.tx.Put(n)
}

const groupExecute = 0o010

// chtimes sets the times of an inode; a zero time leaves one as it is.
func (c *change) chtimes(n *store.Node, atime, mtime time.Time) error {
	n.Atime, n.Mtime = nanoseconds(atime, n.Atime), nanoseconds(mtime, n.Mtime)
	n.Ctime = c.now
	return c.tx.Put(n)
}

const (
	maxXattrName  = 255
	maxXattrValue = 1 << 16
)

var errXattr = fmt.Errorf("%w: extended attribute", posix.ErrInvalid)

// setXattr sets an extended attribute, or removes it if value is nil.
func (c *change) setXattr(n *store.Node, name string, value []byte) error {
	if !validText(name) || len(name) > maxXattrName || len(value) > maxXattrValue {
		return errXattr
	}
	if value == nil {
		if there, err := c.hasXattr(n.Ino, name); err != nil || !there {
			return cmp.Or(err, posix.ErrAttribute)
		}
	}
	if err := c.tx.SetXattr(n.Ino, name, value); err != nil {
		return err
	}
	n.Ctime = c.now
	return c.tx.Put(n)
}

func (c *change) hasXattr(ino store.Ino, name string) (bool, error) {
	list, err := c.tx.Xattrs(ino)
	for _, x := range list {
		if x.Name == name {
			return true, nil
		}
	}
	return false, err
}

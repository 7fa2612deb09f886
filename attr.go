package folio

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
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

var (
	errXattr  = fmt.Errorf("%w: extended attribute", posix.ErrInvalid)
	errXattrs = fmt.Errorf("%w: the extended attributes of a file have at most 16 MiB", posix.ErrInvalid)
)

// checkXattrs returns an error if a file cannot have these extended attributes.
func checkXattrs(attrs map[string][]byte) error {
	size := 0
	for name, value := range attrs {
		if !validText(name) || len(name) > store.MaxXattrName {
			return fmt.Errorf("%w: name of an extended attribute: %.100q", posix.ErrInvalid, name)
		}
		if len(value) > store.MaxXattrValue {
			return fmt.Errorf("%w: extended attribute %.100q has %d bytes, and may have %d", posix.ErrInvalid, name, len(value), store.MaxXattrValue)
		}
		size += len(name) + len(value)
	}
	if size > store.MaxXattrs {
		return errXattrs
	}
	return nil
}

// setXattr sets an extended attribute, or removes it if value is nil.
func (c *change) setXattr(n *store.Node, name string, value []byte) error {
	if !validText(name) || len(name) > store.MaxXattrName || len(value) > store.MaxXattrValue {
		return errXattr
	}
	if err := c.mayChangeXattr(n.Ino, name, value); err != nil {
		return err
	}
	if err := c.tx.SetXattr(n.Ino, name, value); err != nil {
		return err
	}
	n.Ctime = c.now
	return c.tx.Put(n)
}

// mayChangeXattr returns an error if an extended attribute that is to be removed is not there, or
// if all attributes would be too long with a new one. A damaged attribute may be removed.
func (c *change) mayChangeXattr(ino store.Ino, name string, value []byte) error {
	list, err := c.tx.Xattrs(ino)
	if err != nil && (value != nil || !errors.Is(err, ErrDamaged)) {
		return err
	}
	there, size := err != nil, len(name)+len(value)
	for _, x := range list {
		if x.Name == name {
			there = true
		} else {
			size += len(x.Name) + len(x.Value)
		}
	}
	switch {
	case value == nil && !there:
		return posix.ErrAttribute
	case value != nil && size > store.MaxXattrs:
		return errXattrs
	}
	return nil
}

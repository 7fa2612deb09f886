package folio

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// chmod sets the permissions of an inode.
func (c *change) chmod(n *store.Node, mode fs.FileMode) error {
	m, _ := posixMode(mode &^ fs.ModeType)
	c.Chmod(n, m)
	return c.Tx.Put(n)
}

// chown sets owner and group of an inode; -1 leaves one as it is.
func (c *change) chown(n *store.Node, uid, gid int) error {
	if uid != -1 {
		n.UID = uint32(uid)
	}
	if gid != -1 {
		n.GID = uint32(gid)
	}
	if store.TypeOf(n.Mode) != store.Dir {
		inode.ClearSetID(n, func() bool { return true })
	}
	n.Ctime = c.Now
	return c.Tx.Put(n)
}

// chtimes sets the times of an inode; a zero time leaves one as it is.
func (c *change) chtimes(n *store.Node, atime, mtime time.Time) error {
	n.Atime, n.Mtime = posix.Nanoseconds(atime, n.Atime), posix.Nanoseconds(mtime, n.Mtime)
	n.Ctime = c.Now
	return c.Tx.Put(n)
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
	return c.SetXattr(n, name, value)
}

// mayChangeXattr returns an error if an extended attribute that is to be removed is not there, or
// if all attributes would be too long with a new one. A damaged attribute may be removed.
func (c *change) mayChangeXattr(ino store.Ino, name string, value []byte) error {
	exists, others, err := c.Xattr(ino, name)
	if err != nil && (value != nil || !errors.Is(err, ErrDamaged)) {
		return err
	}
	switch {
	case value == nil && !exists && err == nil:
		return posix.ErrAttribute
	case value != nil && others+len(name)+len(value) > store.MaxXattrs:
		return errXattrs
	}
	return nil
}

// validText reports whether s can be a target or the name of an attribute.
func validText(s string) bool { return s != "" && strings.IndexByte(s, 0) < 0 }

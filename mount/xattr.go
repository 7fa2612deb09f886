//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/store"
)

// nameStatus is OK if a file can have an extended attribute of that name.
func (m *fileSystem) nameStatus(name string) fuse.Status {
	if m.noXattrs {
		return fuse.ENOSYS // the kernel does not ask again
	}
	return nameStatus(name)
}

// nameStatus is OK for the names of ext4. There are no access control lists, which are all of the
// namespace "system" there.
func nameStatus(name string) fuse.Status {
	for _, space := range []string{"user.", "trusted.", "security."} {
		switch {
		case name == space:
			return fuse.EINVAL
		case strings.HasPrefix(name, space):
			return fuse.OK
		}
	}
	return fuse.Status(syscall.EOPNOTSUPP)
}

// isListed reports whether the caller of a request may know of an extended attribute. A volume may
// have some whose names make no sense here.
func isListed(name string, in *fuse.InHeader) bool {
	if nameStatus(name) != fuse.OK {
		return false
	}
	if strings.HasPrefix(name, "trusted.") {
		by := callerOf(in)
		return by.can(unix.CAP_SYS_ADMIN)
	}
	return true
}

// GetXAttr implements fuse.RawFileSystem.
func (m *fileSystem) GetXAttr(_ <-chan struct{}, in *fuse.InHeader, name string, dest []byte) (size uint32, st fuse.Status) {
	if st := m.nameStatus(name); st != fuse.OK {
		return 0, st
	}
	ino := m.ino(in.NodeId)
	st = m.viewAt(self(ino), store.NeedAnswer, func(rx store.Rx) error {
		list, err := rx.Xattrs(ino)
		if err != nil {
			return err
		}
		for _, x := range list {
			if x.Name == name {
				size = uint32(len(x.Value))
				if len(dest) < len(x.Value) {
					return syscall.ERANGE
				}
				copy(dest, x.Value)
				return nil
			}
		}
		return syscall.ENODATA
	})
	return size, st
}

// ListXAttr implements fuse.RawFileSystem.
func (m *fileSystem) ListXAttr(_ <-chan struct{}, in *fuse.InHeader, dest []byte) (size uint32, st fuse.Status) {
	if m.noXattrs {
		return 0, fuse.ENOSYS
	}
	ino := m.ino(in.NodeId)
	st = m.viewAt(self(ino), store.NeedAnswer, func(rx store.Rx) error {
		list, err := rx.Xattrs(ino)
		if err != nil {
			return err
		}
		at := 0
		for _, x := range list {
			if !isListed(x.Name, in) {
				continue
			}
			if end := at + len(x.Name) + 1; end <= len(dest) {
				copy(dest[at:], x.Name)
				dest[end-1] = 0
			}
			at += len(x.Name) + 1
		}
		if size = uint32(at); at > len(dest) {
			return syscall.ERANGE
		}
		return nil
	})
	return size, st
}

// SetXAttr implements fuse.RawFileSystem.
func (m *fileSystem) SetXAttr(_ <-chan struct{}, in *fuse.SetXAttrIn, name string, value []byte) fuse.Status {
	switch st := m.nameStatus(name); {
	case st != fuse.OK:
		return st
	case len(name) > store.MaxXattrName:
		return fuse.Status(syscall.ERANGE)
	case len(value) > store.MaxXattrValue:
		return fuse.Status(syscall.E2BIG)
	}
	if value == nil {
		value = []byte{}
	}
	ino := m.ino(in.NodeId)
	return m.change(&in.InHeader, func(c *change) error {
		there, size, err := c.Xattr(ino, name)
		switch {
		case err != nil:
			return err
		case there && in.Flags&unix.XATTR_CREATE != 0:
			return syscall.EEXIST
		case !there && in.Flags&unix.XATTR_REPLACE != 0:
			return syscall.ENODATA
		case size+len(name)+len(value) > store.MaxXattrs:
			return syscall.ENOSPC
		}
		return c.setXattr(ino, name, value)
	})
}

// RemoveXAttr implements fuse.RawFileSystem.
func (m *fileSystem) RemoveXAttr(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	if st := m.nameStatus(name); st != fuse.OK {
		return st
	}
	ino := m.ino(in.NodeId)
	return m.change(in, func(c *change) error {
		there, _, err := c.Xattr(ino, name)
		if err == nil && !there {
			err = syscall.ENODATA
		}
		if err != nil {
			return err
		}
		return c.setXattr(ino, name, nil)
	})
}

// setXattr sets or removes an extended attribute.
func (c *change) setXattr(ino store.Ino, name string, value []byte) error {
	n, err := c.Tx.Node(ino)
	if err == nil && strings.HasPrefix(name, "user.") { // others are for those with capabilities
		err = c.checked(&n, mayWrite)
	}
	if err != nil {
		return err
	}
	return c.SetXattr(&n, name, value)
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/store"
)

// A file can let those who run it act as its owner, as its group, or with capabilities. It must not
// after somebody has changed what runs. The kernel leaves this to the daemon
// (FUSE_HANDLE_KILLPRIV_V2), which follows setattr_should_drop_suidgid of the kernel:
//
//   - Capabilities go whoever changes the content, the size or the owner.
//   - setuid and setgid go if the owner changes, and if a caller without CAP_FSETID changes the
//     content or the size.
//   - But setgid stays without the right of the group to run the file, if the caller is in that
//     group or has CAP_FSETID.

// xattrCapability holds the capabilities of a file.
const xattrCapability = "security.capability"

// dropPrivileges removes the privileges of a file, after a caller has changed its content, its size
// or its owner. bits says whether setuid and setgid are among that.
func (c *change) dropPrivileges(n *store.Node, bits bool) error {
	if bits {
		c.dropBits(n)
	}
	list, err := c.Tx.Xattrs(n.Ino)
	for i := range list {
		if list[i].Name == xattrCapability {
			return c.Tx.SetXattr(n.Ino, xattrCapability, nil)
		}
	}
	return err
}

// setPrivileges is dropPrivileges for a request that sets attributes, before its owner is set.
func (c *change) setPrivileges(n *store.Node, in *fuse.SetAttrIn) error {
	switch {
	case in.Valid&(fuse.FATTR_UID|fuse.FATTR_GID) != 0:
		return c.dropPrivileges(n, true)
	case in.Valid&fuse.FATTR_SIZE != 0:
		return c.dropPrivileges(n, in.Valid&fattrKillSuidgid != 0)
	}
	return nil
}

// dropBits takes setuid and setgid from a file.
func (c *change) dropBits(n *store.Node) {
	inode.ClearSetID(n, func() bool {
		by := callerOf(c.in)
		return by.can(unix.CAP_FSETID) || by.in(c.fs.group(n))
	})
}

// losesBits reports whether a file loses setuid and setgid when the caller changes its content.
// Some requests say so themselves.
func (c *change) losesBits(n *store.Node) bool {
	if n.Mode&(modeSetuid|modeSetgid) == 0 {
		return false
	}
	by := callerOf(c.in)
	return !by.can(unix.CAP_FSETID)
}

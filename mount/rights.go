//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"hash/maphash"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/store"
)

// The kernel checks the permissions of a request before it sends it, by its cached directory, name
// and inode. Another process may have changed them since. So before a request changes something,
// the daemon compares the kernel's attributes with the current ones. If they differ, it checks the
// permissions itself. If it cannot be certain, it answers with ESTALE: the kernel then looks up
// each name of the path again, checks again, and sends the request once more. If that meets another
// change, the program gets ESTALE.
//
// Other requests, such as reads, are answered. Their permissions may be 5 ms old, as the promise of
// a mount has it.

// rights stand for the owner, the group and the mode of an inode, as the kernel was told last.
//
// After another answer they are in doubt for as long as the kernel knows the inode. It drops an
// answer that a notice overtakes, and to be made to forget the rights is no reason for it to ask
// for them before the next check: it uses its old ones.
type rights struct {
	hash  uint32 // 0 if it was told none
	doubt bool   // the kernel may have others
}

// hashRights returns the hash of the rights of an inode. Equal hashes are equal rights, but for an
// accident of one in four billion.
func (t *kernelInodes) hashRights(n *store.Node) uint32 {
	return max(1, uint32(maphash.Comparable(t.seed, [3]uint32{n.Mode, n.UID, n.GID})))
}

// answer notes an answer.
func (r *rights) answer(hash uint32) {
	r.doubt = r.doubt || r.hash != 0 && r.hash != hash
	r.hash = hash
}

// change notes a change of the kernel's own.
func (r *rights) change(before, after uint32) {
	if before != after && r.hash != 0 {
		r.doubt = r.doubt || r.hash != before
		r.hash = after
	}
}

// rights returns the attributes that the kernel has.
func (t *kernelInodes) rights(ino store.Ino) rights {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.nodes[ino].rights
}

// An outdatedError says that the kernel may have checked other rights of an inode than it has.
type outdatedError struct{ ino store.Ino }

func (outdatedError) Error() string { return "another process has changed it a moment ago" }
func (outdatedError) Unwrap() error { return syscall.ESTALE }

// Requirements of a caller: permissions of a mode, or being the owner.
const (
	mayWrite = 0o2
	mayEnter = 0o3 // to change names in a directory
	mayLink  = 0o6
	mayOwn   = 0o10
)

// checked returns nil if the kernel has checked the rights of an inode as they are, or if the
// caller certainly has the rights that it needs. If the caller lacks them for certain, it returns
// EPERM or EACCES.
func (c *change) checked(n *store.Node, need uint32) error {
	known := c.fs.inodes.rights(n.Ino)
	same := known.hash == c.fs.inodes.hashRights(n)
	if same && !known.doubt {
		return nil
	}
	by := callerOf(c.in)
	switch {
	case c.fs.allows(n, c.in.Uid, &by, need), same && !by.seen:
		return nil
	case by.plain && need == mayOwn:
		return syscall.EPERM
	case by.plain:
		return syscall.EACCES
	}
	return outdatedError{n.Ino}
}

// allows reports whether the rights of an inode allow a caller something.
func (m *fileSystem) allows(n *store.Node, asked uint32, by *caller, need uint32) bool {
	uid, gid, mode := m.owner(n), m.group(n), n.Mode&^m.umask
	if need == mayOwn {
		return asked == uid || by.can(unix.CAP_FOWNER, unix.CAP_CHOWN)
	}
	switch {
	case asked == uid:
		mode >>= 6
	case by.in(gid):
		mode >>= 3
	}
	return mode&need == need || by.can(unix.CAP_DAC_OVERRIDE)
}

// forgetAttrs makes the kernel forget the attributes of an inode, at once.
func (m *fileSystem) forgetAttrs(ino store.Ino) {
	m.inodes.forgotten(ino)
	m.kernel.InodeNotify(m.node(ino), -1, 0)
}

const modeSticky = 0o1000

// mayRemove returns nil if a caller who may change a directory may take a name from an inode there.
// The kernel has checked that, too, but perhaps of another inode, which has had that name before.
func (c *change) mayRemove(d, n *store.Node, name string) error {
	if d.Mode&modeSticky == 0 || c.in.Uid == c.fs.owner(n) || c.in.Uid == c.fs.owner(d) {
		return nil
	}
	if ino, ok := c.fs.names.last(d.Ino, name); !ok || ino != n.Ino {
		switch by := callerOf(c.in); {
		case by.can(unix.CAP_FOWNER):
		case by.plain:
			return syscall.EPERM
		default:
			return syscall.ESTALE
		}
	}
	return c.checked(n, mayOwn)
}

// mayOpen returns nil if a caller may open a file of a directory for certain: it is a regular file,
// and its mode says so. It returns EACCES if the caller may not for certain.
func (c *change) mayOpen(d, n *store.Node, in *fuse.CreateIn) error {
	need := uint32(0)
	if in.Flags&unix.O_ACCMODE != unix.O_WRONLY {
		need |= 0o4
	}
	if in.Flags&unix.O_ACCMODE != unix.O_RDONLY || in.Flags&unix.O_TRUNC != 0 {
		need |= mayWrite
	}
	by := callerOf(&in.InHeader)
	allowed := c.fs.allows(n, in.Uid, &by, need)
	switch {
	case !n.IsRegular():
		return syscall.ESTALE
	case !allowed && by.plain:
		return syscall.EACCES
	case allowed && (in.Uid == c.fs.owner(n) || d.Mode&modeSticky == 0): // protected_regular is about others
		return nil
	}
	return syscall.ESTALE
}

// owner returns the owner of an inode as programs see it.
func (m *fileSystem) owner(n *store.Node) uint32 {
	if m.uid != nil {
		return *m.uid
	}
	return n.UID
}

// group returns the group of an inode as programs see it.
func (m *fileSystem) group(n *store.Node) uint32 {
	if m.gid != nil {
		return *m.gid
	}
	return n.GID
}

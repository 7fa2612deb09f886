package osfile

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// statusMask asks for all of a status except the times. If a process has seen the time of a change,
// some file systems give the next change a time of its own, and then have to write the inode in
// each sync.
const statusMask = unix.STATX_TYPE | unix.STATX_INO | unix.STATX_SIZE | unix.STATX_NLINK |
	unix.STATX_MODE | unix.STATX_UID | unix.STATX_GID

var emptyPath [1]byte

// status allocates nothing.
func (d *description) status() (status, error) {
	var st unix.Statx_t
	for {
		_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(d.fd), uintptr(unsafe.Pointer(&emptyPath[0])), unix.AT_EMPTY_PATH,
			statusMask, uintptr(unsafe.Pointer(&st)), 0)
		switch errno {
		case 0:
			return statusFrom(&st), nil
		case unix.ENOSYS, unix.EPERM: // an old system, or a sandbox that knows no statx
			return d.fullStatus()
		case unix.EINTR:
		default:
			return status{}, errno
		}
	}
}

// statusOf returns the status of a name, links not followed.
func statusOf(name string) (status, error) {
	var st unix.Statx_t
	for {
		switch err := unix.Statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, statusMask, &st); err {
		case nil:
			return statusFrom(&st), nil
		case unix.ENOSYS, unix.EPERM:
			return fullStatusOf(name)
		case unix.EINTR:
		default:
			return status{}, err
		}
	}
}

func statusFrom(st *unix.Statx_t) status {
	return status{
		id:   fileID{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino},
		size: int64(st.Size), links: uint64(st.Nlink), regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
		mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid,
	}
}

package osfile

import "golang.org/x/sys/unix"

// romfsMagic is from linux/magic.h.
const romfsMagic = 0x7275

// unchanging knows the file systems of Linux that have no way to be written to.
func (d *description) unchanging() bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(d.fd, &st); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.SQUASHFS_MAGIC, unix.ISOFS_SUPER_MAGIC, unix.EROFS_SUPER_MAGIC_V1, unix.CRAMFS_MAGIC, romfsMagic:
		return true
	}
	return false
}

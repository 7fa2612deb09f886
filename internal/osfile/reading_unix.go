//go:build unix

package osfile

import "golang.org/x/sys/unix"

func (d *description) stamp() (Stamp, error) {
	var st unix.Stat_t
	for {
		if err := unix.Fstat(d.fd, &st); err != unix.EINTR {
			return Stamp{int64(st.Size), int64(st.Mtim.Sec), int64(st.Mtim.Nsec)}, err
		}
	}
}

func (d *description) unwritable(name string) error {
	return unix.Faccessat(unix.AT_FDCWD, name, unix.W_OK, unix.AT_EACCESS)
}

package target

import "golang.org/x/sys/unix"

func mknodat(fd int, name string, mode uint32, rdev uint64) error {
	return unix.Mknodat(fd, name, mode, int(rdev))
}

package disk

import (
	"math"

	"golang.org/x/sys/unix"
)

// mknodat makes no device whose number has more than 32 bits: Linux would make another one.
func mknodat(fd int, name string, mode uint32, rdev uint64) error {
	if rdev > math.MaxUint32 {
		return unix.EPERM
	}
	return unix.Mknodat(fd, name, mode, int(rdev))
}

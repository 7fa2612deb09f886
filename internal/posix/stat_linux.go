package posix

import (
	"io/fs"
	"syscall"
)

// StatOf returns the system's fields of a FileInfo. ok is false if that is not one of the system.
func StatOf(info fs.FileInfo) (s Stat, ok bool) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return s, false
	}
	return Stat{UID: sys.Uid, GID: sys.Gid, Rdev: uint64(sys.Rdev), Atime: syscall.TimespecToNsec(sys.Atim), Ctime: syscall.TimespecToNsec(sys.Ctim)}, true
}

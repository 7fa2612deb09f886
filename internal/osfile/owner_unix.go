//go:build unix

package osfile

import (
	"io/fs"
	"os"
	"syscall"
)

// adoptOwner gives a file the owner and the group that info has, unless it has them.
func adoptOwner(name string, info fs.FileInfo) error {
	mine, err := os.Lstat(name)
	if err != nil {
		return err
	}
	have, want := mine.Sys().(*syscall.Stat_t), info.Sys().(*syscall.Stat_t)
	if have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return os.Lchown(name, int(want.Uid), int(want.Gid))
}

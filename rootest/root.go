//go:build unix

package rootest

import (
	"io/fs"
	"os"
	"syscall"
)

// Of returns an os.Root as an FS. Dir is the directory that it was opened by.
func Of(root *os.Root, dir string) FS {
	return FS{Names: root, OpenFile: openRoot(root), Owner: ownerOf, Xattrs: rootXattrs(root, dir), Prefix: dir + "/"}
}

func openRoot(root *os.Root) func(string, int, fs.FileMode) (File, error) {
	return func(name string, flag int, perm fs.FileMode) (File, error) {
		f, err := root.OpenFile(name, flag, perm)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

func ownerOf(info fs.FileInfo) Owner {
	sys := info.Sys().(*syscall.Stat_t)
	return Owner{Links: uint64(sys.Nlink), UID: sys.Uid, GID: sys.Gid, Atime: accessTime(sys)}
}

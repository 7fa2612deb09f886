//go:build unix

package roottest

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Of returns an os.Root as an FS. Dir is the directory that it was opened by.
func Of(root *os.Root, dir string) FS {
	f := without(root)
	f.Xattrs = rootXattrs(root, dir)
	return f
}

// without returns an os.Root without the methods that use the path of its directory.
func without(root *os.Root) FS {
	prefix := root.Name()
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	open := func(name string, flag int, perm fs.FileMode) (File, error) {
		return AsFile(root.OpenFile(name, flag, perm))
	}
	return FS{Names: root, OpenFile: open, Owner: ownerOf, View: root.FS, Sub: subRoot(root), Close: root.Close, Prefix: prefix}
}

func subRoot(root *os.Root) func(string) (FS, error) {
	return func(name string) (FS, error) {
		sub, err := root.OpenRoot(name)
		if err != nil {
			return FS{}, err
		}
		return without(sub), nil
	}
}

func ownerOf(info fs.FileInfo) Owner {
	sys := info.Sys().(*syscall.Stat_t)
	return Owner{Links: uint64(sys.Nlink), UID: sys.Uid, GID: sys.Gid, Atime: accessTime(sys)}
}

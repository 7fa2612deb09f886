package location

import (
	"io/fs"
	"path"

	"github.com/foliofs/folio"
)

// Inode returns the inode of a file in a volume.
func Inode(info fs.FileInfo) uint64 { return info.Sys().(*folio.Node).Ino }

// Links returns the number of names of a file.
func Links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*folio.Node).Nlink) }

// LeadsTo reports whether a symbolic link leads to a file, which would be lost if it were replaced
// by the link.
func LeadsTo(rx *folio.Rx, link string, there fs.FileInfo) bool {
	target, err := rx.Stat(link)
	return err == nil && Inode(target) == Inode(there)
}

// SameEntry reports whether two names of a file are the same one, in the same directory.
func SameEntry(rx *folio.Rx, a, b string) bool {
	in, err := rx.Stat(path.Dir(a))
	if err != nil || path.Base(a) != path.Base(b) {
		return false
	}
	other, err := rx.Stat(path.Dir(b))
	return err == nil && Inode(in) == Inode(other)
}

package main

import (
	"io/fs"
	"path"

	"github.com/foliofs/folio"
)

func inodeOf(info fs.FileInfo) uint64 { return info.Sys().(*folio.Node).Ino }

// linksOf returns the number of names of a file.
func linksOf(info fs.FileInfo) uint64 { return uint64(info.Sys().(*folio.Node).Nlink) }

// leadsTo reports whether a symbolic link leads to a file, which would be lost if it were replaced
// by the link.
func leadsTo(rx *folio.Rx, link string, there fs.FileInfo) bool {
	target, err := rx.Stat(link)
	return err == nil && inodeOf(target) == inodeOf(there)
}

// sameEntry reports whether two names of a file are the same one, in the same directory.
func sameEntry(rx *folio.Rx, a, b string) bool {
	in, err := rx.Stat(path.Dir(a))
	if err != nil || path.Base(a) != path.Base(b) {
		return false
	}
	other, err := rx.Stat(path.Dir(b))
	return err == nil && inodeOf(in) == inodeOf(other)
}

//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// umask is what files that are made do not permit, as for any program of the user. It is read once, before anything can
// make a file: the system tells it only to whom sets it.
var umask = readUmask()

func readUmask() fs.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return fs.FileMode(mask) & fs.ModePerm
}

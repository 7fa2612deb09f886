//go:build unix

package value

import (
	"io/fs"
	"syscall"
)

// Umask are the permissions that new files do not get, as for any program of the user. It is read
// once, before the command can make a file, because the system tells it only to a process that sets
// it.
var Umask = readUmask()

func readUmask() fs.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return fs.FileMode(mask) & fs.ModePerm
}

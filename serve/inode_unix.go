//go:build unix

package serve

import (
	"io/fs"
	"syscall"
)

// inodeOf returns the number of a file's inode, so that one which was replaced is another.
func inodeOf(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

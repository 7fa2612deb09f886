//go:build darwin || netbsd || openbsd

package posix

import "syscall"

// Flags of open that not all systems have; 0 for none.
const (
	Directory = syscall.O_DIRECTORY
	dataSync  = syscall.O_DSYNC
	pathOnly  = 0
	temporary = 0
)

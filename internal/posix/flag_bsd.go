//go:build dragonfly || freebsd

package posix

import "syscall"

// Flags of open that not all systems have; 0 for none.
const (
	Directory = syscall.O_DIRECTORY
	dataSync  = 0
	pathOnly  = 0
	temporary = 0
)

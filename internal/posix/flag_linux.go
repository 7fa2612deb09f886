package posix

import "syscall"

// Flags of open that not all systems have. Package syscall knows the last two on some processors
// only.
const (
	Directory = syscall.O_DIRECTORY
	dataSync  = syscall.O_DSYNC
	pathOnly  = 0x200000                       // O_PATH
	temporary = 0x400000 | syscall.O_DIRECTORY // O_TMPFILE
)

//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package posix

// Flags of open that not all systems have; 0 for none.
const (
	Directory = 0
	dataSync  = 0
	pathOnly  = 0
	temporary = 0
)

//go:build !linux

package posix

import "io/fs"

// StatOf returns the system's fields of a FileInfo. ok is false if that is not one of the system,
// and on systems other than Linux.
func StatOf(fs.FileInfo) (s Stat, ok bool) { return s, false }

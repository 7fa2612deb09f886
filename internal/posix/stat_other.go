//go:build !linux

package posix

import "io/fs"

// StatOf returns what the system tells of a file by its FileInfo. ok is false if that is not one of
// the system, and on systems other than Linux.
func StatOf(fs.FileInfo) (s Stat, ok bool) { return s, false }

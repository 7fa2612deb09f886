// Package flock tells whether the process that made a file or a directory still lives: it holds a
// lock on it, which ends with it, however it ends.
package flock

import "os"

// Try takes the lock on a file or a directory that is open, until that is closed; false if another
// process, or another opening, has it. The error matches errors.ErrUnsupported where there are no
// such locks.
func Try(f *os.File) (bool, error) { return try(f) }

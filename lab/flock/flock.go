// Package flock tells whether the process that made a file or a directory still lives: it holds a
// lock on it, which ends with it, however it ends.
package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Try takes the lock on a file or a directory that is open, until that is closed; false if another
// process, or another opening, has it. The error is that of a file system without such locks.
func Try(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

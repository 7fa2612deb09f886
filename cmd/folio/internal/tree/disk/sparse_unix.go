//go:build linux || darwin

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Seek sets where the next Read begins.
func (f *fileHandle) Seek(off int64, whence int) (int64, error) {
	at, err := unix.Seek(f.fd, off, whence)
	return at, os.NewSyscallError("lseek", err)
}

// seekData returns where the first data from off on begin, or size if there are none before.
func (f *fileHandle) seekData(off, size int64) (int64, error) {
	at, err := f.Seek(off, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, nil
	}
	return min(at, size), err
}

// seekHole returns where the first hole from off on begins, or size if there is none before.
func (f *fileHandle) seekHole(off, size int64) (int64, error) {
	at, err := f.Seek(off, unix.SEEK_HOLE)
	if errors.Is(err, unix.ENXIO) {
		return size, nil
	}
	return min(at, size), err
}

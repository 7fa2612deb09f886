//go:build unix

package osfile

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SharesMemory says whether processes can share memory by MapWords of a file.
const SharesMemory = true

// MapsBeyondEnd says that a map can be longer than its file, and takes no memory for that: only
// addresses, of which there are enough if they have 64 bits.
const MapsBeyondEnd = strconv.IntSize == 64

// mapShared maps for reading.
func (d *description) mapShared(off int64, n int) ([]byte, error) {
	return d.mmap(off, n, unix.PROT_READ)
}

// mapWritable maps for reading and writing, or for reading alone if the file was opened so.
func (d *description) mapWritable(off int64, n int) ([]byte, error) {
	if d.flag&os.O_RDWR == 0 {
		return d.mmap(off, n, unix.PROT_READ)
	}
	return d.mmap(off, n, unix.PROT_READ|unix.PROT_WRITE)
}

// mmap begins at a multiple of the size of a memory page.
func (d *description) mmap(off int64, n, protection int) ([]byte, error) {
	data, err := unix.Mmap(d.fd, off, n, protection, unix.MAP_SHARED)
	switch {
	case errors.Is(err, unix.ENODEV): // a file system without maps
		return nil, ErrNoMap
	case errors.Is(err, unix.ENOMEM):
		return nil, noMapError{fmt.Errorf("mapping %d bytes: %w", n, err)}
	}
	return data, err
}

func unmap(data []byte) error { return unix.Munmap(data) }

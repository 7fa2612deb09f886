//go:build unix

package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func (d *description) mapShared(n int) ([]byte, error) { return d.mmap(n, unix.PROT_READ) }

// mapWritable maps for reading and writing, or for reading alone where the file was opened so.
func (d *description) mapWritable(n int) ([]byte, error) {
	if d.flag&os.O_RDWR == 0 {
		return d.mmap(n, unix.PROT_READ)
	}
	return d.mmap(n, unix.PROT_READ|unix.PROT_WRITE)
}

func (d *description) mmap(n, protection int) ([]byte, error) {
	data, err := unix.Mmap(d.fd, 0, n, protection, unix.MAP_SHARED)
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENOMEM) {
		return nil, ErrNoMap // a file system without maps, or no such stretch of addresses free
	}
	return data, err
}

func unmap(data []byte) error { return unix.Munmap(data) }

//go:build !linux

package osfile

import "errors"

// FreeSpace returns how many bytes the disk of the file has free for this process. On this system
// that is not known.
func (f *File) FreeSpace() (bytes int64, err error) {
	return 0, f.fail("statfs", errors.ErrUnsupported)
}

// Preallocate gives the file blocks of the disk beyond its end. This system has no such call.
func (f *File) Preallocate(off, n int64) error { return f.fail("allocate", errors.ErrUnsupported) }

// Punch gives back blocks of the disk. This system has no such call.
func (f *File) Punch(off, n int64) error { return f.fail("punch", errors.ErrUnsupported) }

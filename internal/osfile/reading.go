package osfile

import "io/fs"

// A Stamp tells states of a file apart: it changes when the file is written to, as far as the
// system's clock for files ticks in between. Linux, from 6.13 on, gives each change after a look a
// time of its own on its usual file systems.
type Stamp struct {
	size, seconds, nanoseconds int64
}

// Stamp returns the stamp of the file as it is now.
func (f *File) Stamp() (Stamp, error) {
	if f.closed.Load() {
		return Stamp{}, f.fail("stat", fs.ErrClosed)
	}
	s, err := f.d.stamp()
	return s, f.fail("stat", err)
}

// Unchanging reports whether the file is on a file system that is never written to, such as
// squashfs or the one of a CD.
func (f *File) Unchanging() bool { return !f.closed.Load() && f.d.unchanging() }

// Unwritable returns why the process may not open the file for writing, or nil if it may.
func (f *File) Unwritable() error {
	if f.closed.Load() {
		return f.fail("access", fs.ErrClosed)
	}
	return f.fail("access", f.d.unwritable(f.name))
}

//go:build !linux

package osfile

// StartWriteback asks the system to begin writing n bytes at off to disk. This system has no such
// call.
func (f *File) StartWriteback(off, n int64) {}

//go:build !linux

package osfile

// sync makes durable what the file holds.
func (f *File) sync() error { return f.d.file.Sync() }

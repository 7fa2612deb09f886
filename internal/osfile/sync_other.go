//go:build !linux

package osfile

// sync makes the content of the file durable.
func (f *File) sync() error { return f.d.file.Sync() }

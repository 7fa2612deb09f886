//go:build !unix && !windows

package osfile

import "os"

// rename closes the file first: Windows does not rename an open one.
func (f *File) rename(name string, rename func(from, to string) error) error {
	if err := f.Close(); err != nil {
		return err
	}
	if err := rename(f.name, name); err != nil {
		_ = os.Remove(f.name)
		return err
	}
	f.name, f.temp = name, false
	return nil
}

// unlink removes a name unless it is a directory.
func unlink(name string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return kindError(info.Mode())
	}
	return os.Remove(name)
}

// ReplacesOpen says that a file can take the name of one that is open.
const ReplacesOpen = true

func renameOver(from, to string) error { return os.Rename(from, to) }

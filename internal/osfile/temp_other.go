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

// Directories cannot be synced here: the functions below have nothing to do.

func syncDir(string) error { return nil }

func (f *File) syncName() error { return nil }

type directory struct{}

func openDir(string) (directory, error) { return directory{}, nil }

func (directory) sync() error { return nil }

func (directory) Close() error { return nil }

// unlink removes a name that is not that of a directory.
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

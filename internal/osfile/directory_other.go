//go:build !unix

package osfile

// Directories cannot be synced here: the functions below have nothing to do. NTFS keeps a journal
// of its names.

func syncDir(string) error { return nil }

func (f *File) syncName() error { return nil }

type directory struct{}

func openDir(string) (directory, error) { return directory{}, nil }

func (directory) sync() error { return nil }

func (directory) Close() error { return nil }

package billyfs

import (
	"github.com/go-git/go-billy/v5"

	"github.com/foliofs/folio"
)

// A file is a *folio.File with the name that it has in its FS, and perhaps a lock.
type file struct {
	*folio.File
	name  string
	locks *locks
}

var _ billy.File = (*file)(nil)

func (f *file) Name() string { return f.name }

// Lock waits until no other opened file has this one locked, under whatever name. It is undone by
// Unlock or Close, and a second time does nothing.
func (f *file) Lock() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	f.locks.lock(f, info.Sys().(*folio.Node).Ino)
	return nil
}

// Unlock releases the lock of the file.
func (f *file) Unlock() error {
	f.locks.unlock(f)
	return nil
}

// Close closes the file, and unlocks it.
func (f *file) Close() error {
	f.locks.unlock(f)
	return f.File.Close()
}

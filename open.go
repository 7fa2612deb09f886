package folio

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// Open opens the volume at path, for writing too if its file and its directory allow that. Where
// they do not, it opens the volume for reading, and makes no file; a call that is in progress when
// another process begins to write may fail with ErrBusy then.
//
// Errors are *fs.PathError with that path: ErrNotVolume for another database, ErrNewerVersion,
// fs.ErrNotExist, or the error of package sqlitefile.
func Open(path string, o *Options) (*Volume, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := openStore(path, o)
	if err != nil {
		return nil, err
	}
	v, err := OpenStore(private.Key{}, s, o)
	if err != nil {
		_ = s.Close()
		return nil, pathError("open", path, err)
	}
	return v, nil
}

// OpenStore returns the volume in a store that is open already, for the packages of this module
// that open stores. Only the options CacheSize and BusyTimeout count. [Volume.Close] closes the
// store.
func OpenStore(_ private.Key, s store.Store, o *Options) (*Volume, error) {
	if o == nil {
		o = new(Options)
	}
	return newVolume(s, cmp.Or(o.CacheSize, defaultCacheSize), newUpdates(o.BusyTimeout))
}

// openStore opens the volume, and makes it if that is wanted.
func openStore(path string, o *Options) (store.Store, error) {
	options := &native.Options{ReadOnly: o.ReadOnly, Immutable: o.Immutable, NoMmap: o.NoMmap, BusyTimeout: o.BusyTimeout}
	s, err := native.Open(path, options)
	if o.Create && !o.ReadOnly && !o.Immutable {
		switch {
		case isMissing(err):
			err = Create(context.Background(), path, nil, func(*Builder) error { return nil })
			if err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
				return nil, err
			}
			s, err = native.Open(path, options)
		case native.NotDatabase(err) && native.FillEmpty(path, options) == nil:
			s, err = native.Open(path, options)
		}
	}
	if err != nil {
		return nil, err
	}
	s.Limit(o.MaxSize)
	return s, nil
}

// OpenMemory makes an empty volume in memory of this process: for tests, and for trees that are not
// to be kept. No file is on any disk, and nothing is left after Close; BackupFile makes a copy that
// stays. Each call makes another volume. All of a Volume works as with a volume on disk, but Sync
// keeps nothing. Memory is taken for the pages of the database, of its log, and for the caches.
//
// Of the options, BusyTimeout, CacheSize and MaxSize count. Info tells the path "memory".
func OpenMemory(o *Options) (*Volume, error) {
	if o == nil {
		o = new(Options)
	}
	s, err := native.OpenMemory(&native.Options{BusyTimeout: o.BusyTimeout})
	if err != nil {
		return nil, err
	}
	s.Limit(o.MaxSize)
	v, err := OpenStore(private.Key{}, s, o)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return v, nil
}

// OpenReaderAt opens the volume in the first size bytes of r for reading. For example, the bytes
// are embedded in a program, are a file in an archive, or are a []byte in a bytes.Reader. They must
// not change until Close, and no log belongs to them: the volume must have been closed before it
// was copied. Several goroutines call r.ReadAt at once. Close does not close r. Methods that would
// change the volume fail with ErrReadOnly. Of the options, only CacheSize counts.
//
// It returns the errors of Open, with "io.ReaderAt" in place of a path, and fs.ErrInvalid for a
// negative size.
func OpenReaderAt(r io.ReaderAt, size int64, o *Options) (*Volume, error) {
	if r == nil {
		return nil, pathError("open", "io.ReaderAt", errNil)
	}
	s, err := native.OpenReaderAt(r, size, nil)
	if err != nil {
		return nil, err
	}
	v, err := OpenStore(private.Key{}, s, o)
	if err != nil {
		_ = s.Close()
		return nil, pathError("open", "io.ReaderAt", err)
	}
	return v, nil
}

package folio

import (
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/native"
)

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

package folio

import (
	"context"
	"errors"
	"time"

	"github.com/foliofs/folio/store"
)

// ObjectInfo tells about the objects in a bucket that have the large contents of a volume. Only
// volumes on a server have such.
type ObjectInfo struct {
	Bucket  string // "" if the volume has none
	Objects int64
	Bytes   int64 // of the objects
	Chunks  int64 // of contents that are in them
	Used    int64 // bytes of the chunks

	Waiting      int64 // objects that contents have left, as a whole or in part
	WaitingBytes int64
}

// Objects tells what the volume has in a bucket. It returns errors.ErrUnsupported for a volume in a
// file.
func (v *Volume) Objects(ctx context.Context) (ObjectInfo, error) {
	k, ok := v.store.(store.ObjectKeeper)
	if !ok {
		return ObjectInfo{}, v.volumeError("info", errors.ErrUnsupported)
	}
	i, err := k.Objects(ctx)
	return ObjectInfo(i), v.volumeError("info", err)
}

// GCOptions say how GC works. The zero value, and nil, are good defaults.
type GCOptions struct {
	// Unnamed is the age from which on an object goes that no transaction has named: the program
	// that wrote it has died, or its transaction will fail. 0 means a day.
	Unnamed time.Duration
}

// A GCReport says what GC did.
type GCReport struct {
	Listed  int64 // objects in the bucket before
	Unnamed int64 // of them that no transaction had named
	Removed int64 // objects
	ObjectInfo
}

// GC removes objects from the bucket that nothing needs any more, also those that no transaction
// has named. It returns errors.ErrUnsupported for a volume in a file.
func (v *Volume) GC(ctx context.Context, o *GCOptions) (*GCReport, error) {
	k, ok := v.store.(store.ObjectKeeper)
	if !ok {
		return nil, v.volumeError("gc", errors.ErrUnsupported)
	}
	if o == nil {
		o = new(GCOptions)
	}
	r, err := k.GC(ctx, &store.GCOptions{Unnamed: o.Unnamed})
	if err != nil {
		return nil, v.volumeError("gc", err)
	}
	return &GCReport{r.Listed, r.Unnamed, r.Removed, ObjectInfo(r.ObjectInfo)}, nil
}

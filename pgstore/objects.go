package pgstore

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
)

// ObjectInfo describes the objects in a bucket that hold the large contents of a volume.
type ObjectInfo struct {
	Bucket  string // "" if the volume has none
	Objects int64
	Bytes   int64 // of the objects
	Chunks  int64 // of contents that are in them
	Used    int64 // bytes of the chunks

	Waiting      int64 // objects that contents have left, as a whole or in part
	WaitingBytes int64
}

// Objects describes the objects of a volume in a bucket. It returns errors.ErrUnsupported for a
// volume that is not on a server.
func Objects(ctx context.Context, v *folio.Volume) (ObjectInfo, error) {
	s, err := keeper(v, "info")
	if err != nil {
		return ObjectInfo{}, err
	}
	i, err := s.Objects(ctx)
	return ObjectInfo(i), pathError("info", s, err)
}

// keeper returns the store of a volume on a server.
func keeper(v *folio.Volume, op string) (*pgstore.Store, error) {
	s, ok := v.Store(private.Key{}).(*pgstore.Store)
	if !ok {
		info, _ := v.Info(context.Background()) // if it fails, the error names no path
		return nil, &fs.PathError{Op: op, Path: info.Path, Err: errors.ErrUnsupported}
	}
	return s, nil
}

// pathError returns err with the operation and the address of the volume.
func pathError(op string, s *pgstore.Store, err error) error {
	var of *fs.PathError
	if err == nil || errors.As(err, &of) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &fs.PathError{Op: op, Path: s.Address(), Err: err}
}

// GCOptions say how GC works. The zero value, and nil, are good defaults.
type GCOptions struct {
	// MinAge is the age of the youngest object to remove that no transaction has named: the program
	// that wrote it has died, or its transaction will fail. 0 means a day.
	MinAge time.Duration
}

// A GCReport is the result of GC.
type GCReport struct {
	Listed  int64 // objects in the bucket before
	Unnamed int64 // of them that no transaction had named
	Removed int64 // objects
	ObjectInfo
}

// GC removes objects from the bucket of a volume that nothing needs any more, also those that no
// transaction has named. It returns errors.ErrUnsupported for a volume that is not on a server.
func GC(ctx context.Context, v *folio.Volume, o *GCOptions) (*GCReport, error) {
	s, err := keeper(v, "gc")
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = new(GCOptions)
	}
	r, err := s.GC(ctx, &store.GCOptions{MinAge: o.MinAge})
	if err != nil {
		return nil, pathError("gc", s, err)
	}
	return &GCReport{r.Listed, r.Unnamed, r.Removed, ObjectInfo(r.ObjectInfo)}, nil
}

package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore/bucket"
	"github.com/foliofs/folio/internal/store/pgstore/chunkcache"
)

// openBucket opens the bucket that the volume remembers, or lets it remember the one at an address.
// A bucket, or a prefix in it, belongs to one volume: it has an object, the marker, that names the
// volume.
func (s *Store) openBucket(ctx context.Context, address string, o *Options, first firstTrip) error {
	id, remembered := first.id, first.bucket
	if address == "" && remembered == "" {
		return nil
	}
	a, err := chosenBucket(address, remembered)
	if err != nil {
		return err
	}
	client, err := newClient(a, o)
	if err != nil {
		return err
	}
	if err := s.mark(ctx, client, id, remembered == ""); err != nil {
		return err
	}
	if remembered == "" {
		if remembered, err = s.rememberBucket(ctx, address); err != nil {
			return err
		}
		if _, err := chosenBucket(address, remembered); err != nil { // another program was faster
			return err
		}
	}
	size := cmp.Or(o.CacheSize, defaultMemoryCache)
	if o.CacheDir != "" {
		size = cmp.Or(o.CacheSize, defaultDirCache)
	}
	cache, err := chunkcache.New(o.CacheDir, size)
	if err != nil {
		return err
	}
	s.objects = newObjects(client, cache, size)
	s.sweepAfter = cmp.Or(o.SweepAfter, defaultSweepAfter)
	return nil
}

func newClient(a *bucket.Address, o *Options) (*bucket.Client, error) {
	return bucket.New(a, cmp.Or(o.BucketTimeout, defaultBucketTimeout))
}

// tryBucket looks whether a volume that is not there yet can have the bucket at an address.
func (s *Store) tryBucket(ctx context.Context, address string, o *Options) error {
	if address == "" {
		return nil
	}
	a, err := bucket.Parse(address)
	if err != nil {
		return err
	}
	client, err := newClient(a, o)
	if err != nil {
		return err
	}
	found, err := client.Marker(ctx)
	if errors.Is(err, bucket.ErrMissing) {
		return client.Try(ctx)
	}
	if err != nil {
		return err
	}
	// Another program may have made the volume since. The tables were there before the marker.
	if err := s.openTables(ctx); !errors.Is(err, errEmpty) {
		return err
	}
	return foreign(client, found)
}

// chosenBucket returns the address of the bucket that is given, or else of the one that the volume
// remembers. If there are both, they must be the same bucket, perhaps by another endpoint.
func chosenBucket(given, remembered string) (*bucket.Address, error) {
	if given == "" {
		return bucket.Parse(remembered)
	}
	a, err := bucket.Parse(given)
	if err != nil || remembered == "" {
		return a, err
	}
	r, err := bucket.Parse(remembered)
	if err != nil {
		return nil, err
	}
	if a.String() != r.String() {
		return nil, fmt.Errorf("the large contents of the volume are in %s, and not in %s: leave the bucket out of the address", r, a)
	}
	return a, nil
}

func (s *Store) rememberedBucket(ctx context.Context) (id, address string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	c, err := s.connect(ctx, 0, step{statement: selectBucket, row: func(v [][]byte) { id, address = string(v[0]), string(v[1]) }})
	if err != nil {
		return "", "", err
	}
	c.Release()
	return id, address, nil
}

// rememberBucket lets the volume remember a bucket, unless another program was faster, and returns
// the one that it remembers.
func (s *Store) rememberBucket(ctx context.Context, address string) (remembered string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	c, err := s.connect(ctx, 0, do(setBucket, address))
	if err != nil {
		return "", err
	}
	c.Release()
	_, remembered, err = s.rememberedBucket(ctx)
	return remembered, err
}

// mark looks whether the bucket holds the marker of the volume, and writes it if the bucket is new
// to the volume and has no marker.
func (s *Store) mark(ctx context.Context, client *bucket.Client, id string, isNew bool) error {
	text := "Folio volume " + id + "\n"
	found, err := client.Marker(ctx)
	if isNew && errors.Is(err, bucket.ErrMissing) {
		if s.readOnly {
			return fmt.Errorf("%s: the volume has no bucket yet: open it for writing once", client.Address())
		}
		if err := client.Mark(ctx, text); err != nil {
			return err
		}
		found, err = client.Marker(ctx)
	}
	switch {
	case errors.Is(err, bucket.ErrMissing):
		return fmt.Errorf("%s: the bucket has no objects of this volume: its object folio-volume is missing", client.Address())
	case err != nil:
		return err
	case found != text:
		return foreign(client, found)
	}
	return nil
}

// foreign is the error for a bucket whose marker is not that of the volume.
func foreign(client *bucket.Client, marker string) error {
	if strings.HasPrefix(marker, "Folio volume ") {
		return fmt.Errorf("%s: the bucket belongs to another volume: name another one, or another prefix in it", client.Address())
	}
	return fmt.Errorf("%s: the object folio-volume in the bucket is not Folio's: name another prefix in it", client.Address())
}

// partSize is store.Features.PartSize.
func (s *Store) partSize() int {
	if s.objects == nil {
		return 0
	}
	return partSize
}

// bucketOr returns the objects of the volume. It is an error if it has no bucket.
func (s *Store) bucketOr(ino store.Ino) (*objects, error) {
	if s.objects == nil {
		return nil, store.Damaged("inode %d has content in a bucket, and the volume names none", ino)
	}
	return s.objects, nil
}

//go:build unix

package pgstore_test

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestCreate lets several Stores make a volume at the same time: all open it, but only one of those
// that are exclusive.
func TestCreate(t *testing.T) {
	t.Parallel()
	for _, exclusive := range []bool{false, true} {
		address := pgserver.Volume(t)
		var made atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				s, err := pgstore.Open(ctx, address, &pgstore.Options{Create: true, Exclusive: exclusive})
				switch {
				case err == nil:
					made.Add(1)
					must.Do(t, s.Close())
				case !exclusive || !errors.Is(err, fs.ErrExist):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if want := map[bool]int64{false: 8, true: 1}[exclusive]; made.Load() != want {
			t.Errorf("exclusive %v: %d Stores have opened the volume, want %d", exclusive, made.Load(), want)
		}
		changesAll(t, volume(t, address))
	}
}

// TestCreateCut cuts the network when the tables of a new volume were made, and their maker does
// not know it.
func TestCreateCut(t *testing.T) {
	t.Parallel()
	for trips := range int64(4) {
		for _, exclusive := range []bool{false, true} {
			address := pgserver.Volume(t)
			n, through := behind(t, address, 0)
			n.CutAfter(trips + 1)
			back := time.AfterFunc(100*time.Millisecond, n.Restore)
			s, err := pgstore.Open(ctx, through, &pgstore.Options{Create: true, Exclusive: exclusive})
			back.Stop()
			switch {
			case err == nil:
				must.Do(t, s.Close())
			case !exclusive || !errors.Is(err, pgstore.ErrUnknown):
				t.Errorf("cut after %d trips, exclusive %v: %v", trips+1, exclusive, err)
			}
			changesAll(t, volume(t, address))
		}
	}
}

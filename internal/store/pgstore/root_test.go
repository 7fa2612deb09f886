//go:build unix

package pgstore_test

import (
	"context"
	"flag"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/volumetest"
)

var mirrorOps = flag.Int("mirror.ops", 100_000, "calls on volumes on a server that are compared with the same on os.Root")

// TestRoots runs the suite of file systems. Mirrors make random calls on os.Root and, through two
// Stores in turn, on a volume that more Stores read, four at once. It is no parallel test, as it
// sets the umask.
func TestRoots(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	defer func(n int) { posix.MaxLinks = n }(posix.MaxLinks)
	posix.MaxLinks = 8 // as os.Root
	t.Run("Suite", func(t *testing.T) {
		roottest.Run(t, func(t *testing.T) roottest.FS {
			return volumetest.RootOf(volumeAs(t, pgserver.Volume(t), nil, nil))
		})
	})
	t.Run("Mirror", func(t *testing.T) {
		const mirrors = 4
		ops := *mirrorOps / mirrors
		if testing.Short() {
			ops /= 10
		}
		for range mirrors {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				newMirrored().Run(t, random.New(t), ops)
			})
		}
	})
	t.Run("Together", func(t *testing.T) {
		address := pgserver.Volume(t)
		volumetest.Together(t, volumeAs(t, address, nil, nil), volumeAs(t, address, nil, nil))
	})
}

// volumeAs opens a volume with options.
func volumeAs(t testing.TB, address string, so *pgstore.Options, o *folio.Options) *folio.Volume {
	t.Helper()
	if so == nil {
		so = &pgstore.Options{Create: true} // with the usual lease, as a busy machine may stop this process for a second
	}
	s, err := pgstore.Open(context.Background(), address, so)
	must.Do(t, err)
	v, err := folio.OpenStore(private.Key{}, s, o)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func newMirrored() *roottest.Mirror {
	var opened []*folio.Volume
	var address string
	as := func(t *testing.T, so *pgstore.Options, o *folio.Options) *folio.Volume {
		opened = append(opened, volumeAs(t, address, so, o))
		return opened[len(opened)-1]
	}
	return volumetest.Mirror(func(t *testing.T) []*folio.Volume {
		for _, old := range opened { // connections are few
			must.Do(t, old.Close())
		}
		opened, address = nil, pgserver.Volume(t)
		return []*folio.Volume{as(t, nil, nil), as(t, nil, nil)}
	}, func(t *testing.T) []*folio.Volume {
		return []*folio.Volume{as(t, nil, nil), as(t, &pgstore.Options{ReadOnly: true}, &folio.Options{CacheSize: -1})}
	})
}

// volume opens a volume as a file system.
func volume(t testing.TB, address string) *folio.Volume {
	t.Helper()
	return volumeAs(t, address, &pgstore.Options{Create: true, MaxConns: 100}, nil)
}

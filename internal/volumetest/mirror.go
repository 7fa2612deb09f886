//go:build unix

package volumetest

import (
	"context"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

// Mirror returns a Mirror of volumes. Open returns connections to a new volume, and readers returns
// more connections to that volume; both close them with the test.
func Mirror(open, readers func(t *testing.T) []*folio.Volume) *roottest.Mirror {
	var v *folio.Volume
	return &roottest.Mirror{
		Whole: true,
		Open: func(t *testing.T) []roottest.FS {
			volumes := open(t)
			v = volumes[0]
			return rootsOf(volumes)
		},
		Readers: func(t *testing.T) []roottest.FS { return rootsOf(readers(t)) },
		Update: func(fn func(tx roottest.FS) error) error {
			return v.Update(context.Background(), func(tx *folio.Tx) error { return fn(RootOf(tx)) })
		},
		Check: func() error { return Clean(v) },
	}
}

func rootsOf(volumes []*folio.Volume) (list []roottest.FS) {
	for _, v := range volumes {
		list = append(list, RootOf(v))
	}
	return list
}

// Together makes random calls from goroutines, through several connections to a volume. No call may
// keep another one from its work, and the volume must be sound at the end.
func Together(t *testing.T, connections ...*folio.Volume) {
	t.Helper()
	roottest.Together(t, random.New(t), rootsOf(connections), folio.ErrBusy, folio.ErrDamaged, folio.ErrReadOnly, folio.ErrFull)
	for _, v := range connections {
		WantClean(t, v)
	}
}

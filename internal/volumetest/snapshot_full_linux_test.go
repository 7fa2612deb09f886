package volumetest

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

// TestSnapshotsFull fills a volume up that has a snapshot: to its quota, and to the end of the
// disk. Nothing that was refused has changed anything, and removing the snapshot makes room.
func TestSnapshotsFull(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *folio.Volume{
		"quota": func(t *testing.T) *folio.Volume { return Limited(t, 4<<20) },
		"disk": func(t *testing.T) *folio.Volume {
			v, err := folio.Open(filepath.Join(smallDisk(t, "8m"), "v.folio"), &folio.Options{Create: true})
			must.Do(t, err)
			t.Cleanup(func() { _ = v.Close() })
			return v
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := open(t)
			for i := range 20 {
				must.Do(t, v.WriteFile(fmt.Sprint("f", i), random.Bytes(random.New(t), 50_000), 0o644))
			}
			must.Do(t, v.CreateSnapshot(t.Context(), "s"))
			want := TreeOf(t, v)
			var err error
			for i := 0; err == nil; i++ {
				before := TreeOf(t, v)
				if err = v.WriteFile(fmt.Sprint("f", i%30), random.Bytes(random.New(t), 60_000), 0o644); err != nil && TreeOf(t, v) != before {
					t.Error("a call that failed has changed something")
				}
				if i%30 == 29 {
					must.Do(t, v.CreateSnapshot(t.Context(), fmt.Sprint("s", i)))
				}
			}
			WantFull(t, "WriteFile", err)
			if err := v.Remove("f1"); err != nil && !errors.Is(err, folio.ErrFull) {
				t.Errorf("Remove: %v", err)
			}
			at, err := v.OpenSnapshot(t.Context(), "s")
			must.Do(t, err)
			if got := TreeOf(t, at); got != want {
				t.Errorf("the snapshot: %s", roottest.Difference(got, want))
			}
			list, err := v.Snapshots(t.Context())
			must.Do(t, err)
			for _, s := range list {
				must.Do(t, v.RemoveSnapshot(t.Context(), s.Name))
			}
			must.Do(t, v.WriteFile("room", make([]byte, 60_000), 0o644))
			WantClean(t, v)
		})
	}
}

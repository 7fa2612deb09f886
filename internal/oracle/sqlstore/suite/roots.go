//go:build unix

package suite

import (
	"flag"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/volumetest"
)

var mirrorOps = flag.Int("mirror.ops", 3000, "calls on volumes in SQL that are compared with the same on os.Root")

// TestRoots runs the suite of file systems, and compares volumes in SQL with os.Root. The engine
// reads these volumes, too. TestRoots must not run next to other tests, as it sets the umask.
func (d *Driver) TestRoots(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	defer func(n int) { posix.MaxLinks = n }(posix.MaxLinks)
	posix.MaxLinks = 8 // as os.Root
	t.Run("Suite", func(t *testing.T) {
		roottest.Run(t, func(t *testing.T) roottest.FS {
			return volumetest.RootOf(d.Volume(t, filepath.Join(t.TempDir(), "test.folio")))
		})
	})
	t.Run("Mirror", func(t *testing.T) {
		var path string
		m := volumetest.Mirror(func(t *testing.T) []*folio.Volume {
			path = filepath.Join(t.TempDir(), "test.folio")
			return []*folio.Volume{d.Volume(t, path), d.Volume(t, path)}
		}, func(t *testing.T) []*folio.Volume {
			v, err := folio.OpenStore(private.Key{}, d.Open(t, path, &sqlstore.Options{ReadOnly: true}), &folio.Options{CacheSize: -1})
			must.Do(t, err)
			return []*folio.Volume{v, volumetest.Open(t, path)}
		})
		m.Run(t, random.New(t), *mirrorOps)
		d.Judge(t, path)
	})
	t.Run("Together", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "test.folio")
		a, b := d.Volume(t, path), d.Volume(t, path)
		volumetest.Together(t, a, b)
		must.Do(t, a.Close(), b.Close())
		if n := d.Count(t, path, "SELECT count(*) FROM orphan JOIN node USING (ino)"); n > 0 {
			t.Errorf("%d orphans are left", n)
		}
		d.Judge(t, path)
	})
}

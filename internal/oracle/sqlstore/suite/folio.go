package suite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestFolio runs the file system on the store: package fstest judges it, and random calls must have
// the same results as on the engine.
func (d *Driver) TestFolio(t *testing.T) {
	t.Run("fstest", func(t *testing.T) {
		t.Parallel()
		v := d.volume(t, filepath.Join(t.TempDir(), "test.folio"))
		must.Do(t, v.MkdirAll("a/b", 0o755))
		for _, name := range []string{"a/one", "a/b/two", "three"} {
			must.Do(t, v.WriteFile(name, []byte(strings.Repeat(name, 100)), 0o644))
		}
		must.Do(t, v.Symlink("b/two", "a/link"))
		must.Do(t, fstest.TestFS(v.FS(), "a/one", "a/b/two", "a/link", "three"))
		must.Do(t, v.View(context.Background(), func(rx *folio.Rx) error { return fstest.TestFS(rx.FS(), "a/one") }))
	})
	t.Run("Same", func(t *testing.T) {
		t.Parallel()
		d.testSame(t)
	})
}

// volume opens a volume that it makes if need be.
func (d *Driver) volume(t testing.TB, path string) *folio.Volume {
	t.Helper()
	s, err := sqlstore.Open(d.Name, d.dsn(path), &sqlstore.Options{Create: true})
	must.Do(t, err)
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// testSame makes the same calls on a volume in SQL and on one of the engine, which TestMirror of
// package folio holds to os.Root.
func (d *Driver) testSame(t *testing.T) {
	r := random(t)
	dir := t.TempDir()
	got := d.volume(t, filepath.Join(dir, "got.folio"))
	want, err := folio.Open(filepath.Join(dir, "want.folio"), &folio.Options{Create: true})
	must.Do(t, err)
	t.Cleanup(func() { _ = want.Close() })
	volumetest.Same(t, r, got, want, *calls, 200)
	must.Do(t, got.Close())
	d.judge(t, filepath.Join(dir, "got.folio"))
}

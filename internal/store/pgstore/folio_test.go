//go:build unix

package pgstore_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/internal/volumetest"
)

// volume opens a volume as a file system.
func volume(t testing.TB, address string) *folio.Volume {
	t.Helper()
	s, err := pgstore.Open(context.Background(), address, &pgstore.Options{Create: true, MaxConns: 100})
	must(t, err)
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// TestFS lets package fstest judge the file system on the store.
func TestFS(t *testing.T) {
	t.Parallel()
	v := volume(t, pgserver.Volume(t))
	must(t, v.MkdirAll("a/b", 0o755))
	for _, name := range []string{"a/one", "a/b/two", "three"} {
		must(t, v.WriteFile(name, []byte(strings.Repeat(name, 100)), 0o644))
	}
	must(t, v.Symlink("b/two", "a/link"))
	must(t, fstest.TestFS(v.FS(), "a/one", "a/b/two", "a/link", "three"))
	must(t, v.View(context.Background(), func(rx *folio.Rx) error { return fstest.TestFS(rx.FS(), "a/one") }))
}

// mirrors is how many volumes TestMirror changes, all at once.
const mirrors = 4

// TestMirror makes the same calls on a volume on the server and on one of the engine, which
// TestMirror of package folio holds to os.Root.
func TestMirror(t *testing.T) {
	n := *calls
	if testing.Short() {
		n /= 50
	}
	for range mirrors {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			mirror(t, n/mirrors)
		})
	}
}

func mirror(t *testing.T, calls int) {
	r := random(t)
	want, err := folio.Open(t.TempDir()+"/want.folio", &folio.Options{Create: true})
	must(t, err)
	t.Cleanup(func() { _ = want.Close() })
	volumetest.Same(t, r, volume(t, pgserver.Volume(t)), want, calls, 1000)
}

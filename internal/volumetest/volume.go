// Package volumetest tests whole volumes: after a crash, a kill, on a failing or a full disk, with
// rows changed at random; random calls compared with os.Root; benchmarks next to the operating
// system. The tests of a single file of package folio stay next to that file. The package itself
// has the helpers that both share.
package volumetest

import (
	"context"
	"go/build"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// Empty makes a volume without files, and opens it.
func Empty(t testing.TB) *folio.Volume {
	t.Helper()
	v, err := folio.Open(filepath.Join(t.TempDir(), "test.folio"), &folio.Options{Create: true})
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// Again opens a volume once more, as another process would.
func Again(t testing.TB, v *folio.Volume, o *folio.Options) *folio.Volume {
	t.Helper()
	info, err := v.Info(context.Background())
	must.Do(t, err)
	other, err := folio.Open(info.Path, o)
	must.Do(t, err)
	t.Cleanup(func() { _ = other.Close() })
	return other
}

// Create makes a volume with the files that fn adds, and opens it.
func Create(t testing.TB, fn func(b *folio.Builder) error) *folio.Volume {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, folio.Create(context.Background(), path, nil, fn))
	return Open(t, path)
}

// Import makes a volume of a directory of the system, and opens it.
func Import(t testing.TB, dir string) *folio.Volume {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, folio.ImportFS(context.Background(), path, os.DirFS(dir), nil))
	return Open(t, path)
}

// Open opens a volume, which the end of the test closes.
func Open(t testing.TB, path string) *folio.Volume {
	t.Helper()
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, v.Close()) })
	return v
}

// Memory makes an empty volume in memory.
func Memory(t testing.TB, o *folio.Options) *folio.Volume {
	t.Helper()
	v, err := folio.OpenMemory(o)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// Size returns the size of the volume's file in bytes.
func Size(t testing.TB, v *folio.Volume) int64 {
	t.Helper()
	info, err := v.Info(t.Context())
	must.Do(t, err)
	return info.Size
}

// Goroot returns the path of dir in the Go distribution. It skips the test if the distribution has
// no sources.
func Goroot(t testing.TB, dir string) string {
	t.Helper()
	dir = filepath.Join(build.Default.GOROOT, filepath.FromSlash(dir))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no source of Go here: %v", err)
	}
	return dir
}

package volumetest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
)

// Empty makes a volume without files, and opens it.
func Empty(t testing.TB) *folio.Volume {
	t.Helper()
	v, err := folio.Open(filepath.Join(t.TempDir(), "test.folio"), &folio.Options{Create: true})
	Must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// Again opens a volume once more, as another process would.
func Again(t testing.TB, v *folio.Volume, o *folio.Options) *folio.Volume {
	t.Helper()
	info, err := v.Info(context.Background())
	Must(t, err)
	other, err := folio.Open(info.Path, o)
	Must(t, err)
	t.Cleanup(func() { _ = other.Close() })
	return other
}

// Create makes a volume with the files that fn adds, and opens it.
func Create(t testing.TB, fn func(b *folio.Builder) error) *folio.Volume {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.folio")
	Must(t, folio.Create(context.Background(), path, nil, fn))
	return Open(t, path)
}

// Import makes a volume of a directory of the system, and opens it.
func Import(t testing.TB, dir string) *folio.Volume {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.folio")
	Must(t, folio.ImportFS(context.Background(), path, os.DirFS(dir), nil))
	return Open(t, path)
}

// Open opens a volume, which the end of the test closes.
func Open(t testing.TB, path string) *folio.Volume {
	t.Helper()
	v, err := folio.Open(path, nil)
	Must(t, err)
	t.Cleanup(func() { Must(t, v.Close()) })
	return v
}

// Memory makes an empty volume in memory.
func Memory(t testing.TB, o *folio.Options) *folio.Volume {
	t.Helper()
	v, err := folio.OpenMemory(o)
	Must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// Limited makes an empty volume whose file may grow to size bytes.
func Limited(t *testing.T, size int64) *folio.Volume {
	t.Helper()
	v, err := folio.Open(filepath.Join(t.TempDir(), "test.folio"), &folio.Options{Create: true, MaxSize: size})
	Must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// Size returns the size of the volume's file in bytes.
func Size(t testing.TB, v *folio.Volume) int64 {
	t.Helper()
	info, err := v.Info(t.Context())
	Must(t, err)
	return info.Size
}

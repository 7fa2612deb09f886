package overlay_test

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
	"github.com/foliofs/folio/internal/store/overlay"
	"github.com/foliofs/folio/internal/store/storetest"
)

// upperAt makes the store for changes at a path, or opens it.
func upperAt(t *testing.T, path string) store.Store {
	t.Helper()
	s, err := native.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newUpper makes an empty store for changes.
func newUpper(t *testing.T) (store.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.folio")
	createUpper(t, path, func(b *native.Builder) error {
		return b.Node(&store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2})
	})
	return upperAt(t, path), path
}

func createUpper(t *testing.T, path string, fn func(b *native.Builder) error) {
	t.Helper()
	if err := native.Create(t.Context(), path, &native.CreateOptions{}, fn); err != nil {
		t.Fatal(err)
	}
}

// TestStore runs the suite of stores on an overlay over an empty base.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, v *storetest.Volume) store.Store {
		path := filepath.Join(t.TempDir(), "test.folio")
		createUpper(t, path, func(b *native.Builder) error { return v.Build(b) })
		return overlay.New(fstest.MapFS{}, upperAt(t, path), nil)
	})
}

// TestWriting does so for changes.
func TestWriting(t *testing.T) {
	t.Parallel()
	storetest.RunWriting(t, func(t *testing.T) (store.Store, storetest.Opener) {
		s, path := newUpper(t)
		again := func(t *testing.T) store.Store { return overlay.New(fstest.MapFS{}, upperAt(t, path), nil) }
		return overlay.New(fstest.MapFS{}, s, nil), again
	})
}

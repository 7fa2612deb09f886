package volumetest

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// Craft makes a volume that no [folio.Builder] would make, and opens it. rows writes the inodes
// from 2 on.
func Craft(t *testing.T, root store.Node, rows func(b *native.Builder) error) *folio.Volume {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crafted.folio")
	must.Do(t, native.Create(context.Background(), path, new(native.CreateOptions), func(b *native.Builder) error {
		root.Ino = store.Root
		return errors.Join(b.Node(&root), rows(b))
	}))
	return Open(t, path)
}

// PlainRoot is an ordinary root directory for [Craft].
var PlainRoot = store.Node{Mode: store.ModeDir | 0o755, Nlink: 2}

// Limited makes an empty volume whose file may grow to size bytes.
func Limited(t *testing.T, size int64) *folio.Volume {
	t.Helper()
	v, err := folio.Open(filepath.Join(t.TempDir(), "test.folio"), &folio.Options{Create: true, MaxSize: size})
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// WantFull fails the test unless err says that the volume is full. The text names the call.
func WantFull(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, folio.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%s: %v, want ErrFull", what, err)
	}
}

// WantWithin fails the test if the volume's file is larger than size bytes.
func WantWithin(t *testing.T, v *folio.Volume, size int64) {
	t.Helper()
	info, err := v.Info(t.Context())
	must.Do(t, err)
	if info.Size > size {
		t.Errorf("%d bytes of %d", info.Size, size)
	}
}

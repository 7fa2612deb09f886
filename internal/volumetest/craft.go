package volumetest

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// Craft makes a volume that no [folio.Builder] would make, and opens it. rows writes the inodes
// from 2 on.
func Craft(t *testing.T, root store.Node, rows func(b *native.Builder) error) *folio.Volume {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crafted.folio")
	Must(t, native.Create(context.Background(), path, new(native.CreateOptions), func(b *native.Builder) error {
		root.Ino = store.Root
		return errors.Join(b.Node(&root), rows(b))
	}))
	return Open(t, path)
}

// PlainRoot is an ordinary root directory for [Craft].
var PlainRoot = store.Node{Mode: store.ModeDir | 0o755, Nlink: 2}

package native

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/store"
	"github.com/foliofs/folio/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pageSize int
		plain    bool
	}{"default": {}, "small pages": {pageSize: 512}, "large pages": {pageSize: 65536}, "plain": {plain: true}} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, v *storetest.Volume) store.Store {
				path := filepath.Join(t.TempDir(), "test.folio")
				build(t, path, c.pageSize, v)
				s, err := Open(path, &Options{Plain: c.plain})
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

func build(t *testing.T, path string, pageSize int, v *storetest.Volume) {
	t.Helper()
	err := Create(context.Background(), path, &CreateOptions{PageSize: pageSize}, func(b *Builder) error {
		return v.Build(b)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pageSize int
		plain    bool
	}{"default": {}, "small pages": {pageSize: 512}, "plain": {plain: true}} {
		t.Run(name, func(t *testing.T) {
			storetest.RunWriting(t, func(t *testing.T) (store.Store, storetest.Opener) {
				path := filepath.Join(t.TempDir(), "test.folio")
				must(t, Create(context.Background(), path, &CreateOptions{PageSize: c.pageSize}, func(b *Builder) error {
					return b.Node(&store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2})
				}))
				again := func(t *testing.T) store.Store {
					s, err := Open(path, &Options{Plain: c.plain})
					must(t, err)
					t.Cleanup(func() { _ = s.Close() })
					return s
				}
				return again(t), again
			})
		})
	}
}

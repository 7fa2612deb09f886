package volumetest

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/roottest"
)

// A Like offers the methods that Volume, Overlay, Root and Tx have in common with os.Root.
type Like interface {
	roottest.Names
	roottest.Xattrs
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
}

// RootOf returns a volume, a directory of one or a transaction as package roottest sees it.
func RootOf(l Like) roottest.FS {
	f := roottest.FS{
		Names: l, Xattrs: l, Owner: ownerOf,
		OpenFile: func(name string, flag int, perm fs.FileMode) (roottest.File, error) {
			return roottest.AsFile(l.OpenFile(name, flag, perm))
		},
	}
	if r, ok := l.(*folio.Root); ok {
		f.Prefix = strings.TrimSuffix(r.Name(), "/") + "/"
	}
	if d, ok := l.(interface {
		FS() fs.FS
		OpenRoot(name string) (*folio.Root, error)
		Close() error
	}); ok {
		f.View, f.Close = d.FS, d.Close
		f.Sub = func(name string) (roottest.FS, error) {
			root, err := d.OpenRoot(name)
			if err != nil {
				return roottest.FS{}, err
			}
			return RootOf(root), nil
		}
	}
	if v, ok := l.(interface {
		View(ctx context.Context, fn func(rx *folio.Rx) error) error
	}); ok {
		f.At = func(fn func(fs.FS) error) error {
			return v.View(context.Background(), func(rx *folio.Rx) error { return fn(rx.FS()) })
		}
	}
	return f
}

func ownerOf(info fs.FileInfo) roottest.Owner {
	n := info.Sys().(*folio.Node)
	return roottest.Owner{Links: uint64(n.Nlink), UID: n.UID, GID: n.GID, Atime: time.Unix(0, n.Atime)}
}

// Clean returns the problems that Check finds in a volume, as an error.
func Clean(v *folio.Volume) error {
	r, err := v.Check(context.Background(), nil)
	if err == nil && !r.OK() {
		err = fmt.Errorf("%+v", r.Problems)
	}
	return err
}

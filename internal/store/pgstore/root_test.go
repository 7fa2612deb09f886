//go:build unix

package pgstore_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

var mirrorOps = flag.Int("mirror.ops", 10_000, "calls on volumes on a server that are compared with the same on os.Root")

// TestRoots runs the suite of roottest, and makes random calls on os.Root and, through two Stores
// in turn, on a volume. Further Stores read it. It is no parallel test, as it sets the umask.
func TestRoots(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	defer func(n int) { posix.MaxLinks = n }(posix.MaxLinks)
	posix.MaxLinks = 8 // as os.Root
	t.Run("Suite", func(t *testing.T) {
		roottest.Run(t, func(t *testing.T) roottest.FS { return rootOf(volumeAs(t, pgserver.Volume(t), nil, nil)) })
	})
	t.Run("Mirror", func(t *testing.T) {
		ops := *mirrorOps
		if testing.Short() {
			ops /= 10
		}
		newMirrored().Run(t, random(t), ops)
	})
}

// volumeAs opens a volume with options.
func volumeAs(t testing.TB, address string, so *pgstore.Options, o *folio.Options) *folio.Volume {
	t.Helper()
	if so == nil {
		so = &pgstore.Options{Create: true} // with the usual lease, as a busy machine may stop this process for a second
	}
	s, err := pgstore.Open(context.Background(), address, so)
	must(t, err)
	v, err := folio.OpenStore(private.Key{}, s, o)
	must(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func newMirrored() *roottest.Mirror {
	var opened []*folio.Volume
	var v *folio.Volume
	var address string
	as := func(t *testing.T, so *pgstore.Options, o *folio.Options) *folio.Volume {
		opened = append(opened, volumeAs(t, address, so, o))
		return opened[len(opened)-1]
	}
	m := &roottest.Mirror{Whole: true}
	m.Open = func(t *testing.T) []roottest.FS {
		for _, old := range opened { // connections are few
			must(t, old.Close())
		}
		opened, address = nil, pgserver.Volume(t)
		v = as(t, nil, nil)
		return []roottest.FS{rootOf(v), rootOf(as(t, nil, nil))}
	}
	m.Readers = func(t *testing.T) []roottest.FS {
		return []roottest.FS{
			rootOf(as(t, nil, nil)), rootOf(as(t, &pgstore.Options{ReadOnly: true}, &folio.Options{CacheSize: -1})),
		}
	}
	m.Update = func(fn func(tx roottest.FS) error) error {
		return v.Update(context.Background(), func(tx *folio.Tx) error { return fn(rootOf(tx)) })
	}
	m.Check = func() error {
		report, err := v.Check(context.Background(), nil)
		if err == nil && !report.OK() {
			err = fmt.Errorf("%+v", report.Problems)
		}
		return err
	}
	return m
}

// A like has the methods that Volume, Root and Tx have in common with os.Root.
type like interface {
	roottest.Names
	roottest.Xattrs
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
}

func rootOf(l like) roottest.FS {
	f := roottest.FS{
		Names: l, Xattrs: l, Owner: ownerOf,
		OpenFile: func(name string, flag int, perm fs.FileMode) (roottest.File, error) {
			f, err := l.OpenFile(name, flag, perm)
			if err != nil {
				return nil, err
			}
			return f, nil
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
			return rootOf(root), nil
		}
	}
	return f
}

func ownerOf(info fs.FileInfo) roottest.Owner {
	n := info.Sys().(*folio.Node)
	return roottest.Owner{Links: uint64(n.Nlink), UID: n.UID, GID: n.GID, Atime: time.Unix(0, n.Atime)}
}

//go:build unix

package volumetest

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/roottest"
)

var (
	mirrorOps = flag.Int("mirror.ops", 20_000, "operations of the comparison with os.Root")
	mirrorDir = flag.String("mirror.dir", "", "where os.Root works; a temporary directory if empty")
)

// TestMirror makes random calls on os.Root and on volumes, the whole of them and directories of
// them as worlds of their own, through two connections and in transactions. Names, errors, contents
// and metadata must be the same. One more:
//
//	go test ./internal/volumetest -run TestMirror -mirror.ops 1000000 -timeout 2h
func TestMirror(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	defer func(n int) { posix.MaxLinks = n }(posix.MaxLinks)
	posix.MaxLinks = 8 // as os.Root
	r := Random(t)
	for name, top := range map[string]string{"volume": "", "root": "world/a/b"} {
		t.Run(name, func(t *testing.T) {
			m := newMirrored(top)
			m.Run(t, r, *mirrorOps/InQuick(8, 2))
		})
	}
}

// TestRootMirror compares os.Root with itself, which says that nothing is compared that does not
// must be the same.
func TestRootMirror(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	m := &roottest.Mirror{Dir: *mirrorDir, Open: func(t *testing.T) []roottest.FS {
		dir := t.TempDir()
		Must(t, os.Chmod(dir, 0o755))
		root, err := os.OpenRoot(dir)
		Must(t, err)
		return []roottest.FS{roottest.Of(root, dir)}
	}}
	m.Run(t, Random(t), *mirrorOps/InQuick(40, 10))
}

// newMirrored returns a Mirror of volumes or, if top is not empty, of directories in them.
func newMirrored(top string) *roottest.Mirror {
	var v *folio.Volume
	m := &roottest.Mirror{Dir: *mirrorDir, Whole: true}
	m.Open = func(t *testing.T) []roottest.FS {
		path := filepath.Join(t.TempDir(), "test.folio")
		Must(t, folio.Create(t.Context(), path, nil, AddAll()))
		v = Open(t, path)
		Must(t, v.MkdirAll("./"+top, 0o755))
		return []roottest.FS{rooted(t, v, top), rooted(t, Again(t, v, nil), top)}
	}
	m.Readers = func(t *testing.T) (list []roottest.FS) {
		for _, o := range []*folio.Options{nil, {ReadOnly: true}, {NoMmap: true, CacheSize: -1}} {
			list = append(list, rooted(t, Again(t, v, o), top))
		}
		return list
	}
	if top == "" {
		m.Update = func(fn func(tx roottest.FS) error) error {
			return v.Update(context.Background(), func(tx *folio.Tx) error { return fn(rootOf(tx)) })
		}
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

// rooted returns a volume, or a directory of it as a world of its own.
func rooted(t *testing.T, v *folio.Volume, top string) roottest.FS {
	if top == "" {
		return rootOf(v)
	}
	root, err := v.OpenRoot(top)
	Must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return rootOf(root)
}

// A like has the methods that Volume, Root and Tx have in common with os.Root.
type like interface {
	roottest.Names
	roottest.Xattrs
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
}

func rootOf(l like) roottest.FS {
	f := filesOf(l)
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

func filesOf(l like) roottest.FS {
	return roottest.FS{
		Names: l, Xattrs: l, Owner: ownerOf,
		OpenFile: func(name string, flag int, perm fs.FileMode) (roottest.File, error) {
			f, err := l.OpenFile(name, flag, perm)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	}
}

func ownerOf(info fs.FileInfo) roottest.Owner {
	n := info.Sys().(*folio.Node)
	return roottest.Owner{Links: uint64(n.Nlink), UID: n.UID, GID: n.GID, Atime: time.Unix(0, n.Atime)}
}

// TestRootSuite runs the suite of roottest on volumes, on directories of them, and on os.Root.
func TestRootSuite(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for name, open := range map[string]func(t *testing.T) roottest.FS{
		"volume": func(t *testing.T) roottest.FS { return rootOf(Empty(t)) },
		"memory": func(t *testing.T) roottest.FS { return rootOf(Memory(t, nil)) },
		"root": func(t *testing.T) roottest.FS {
			v := Empty(t)
			Must(t, v.MkdirAll("a/b", 0o755))
			return rooted(t, v, "a/b")
		},
		"os.Root": func(t *testing.T) roottest.FS {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			Must(t, err)
			t.Cleanup(func() { Must(t, root.Close()) })
			return roottest.Of(root, dir)
		},
	} {
		t.Run(name, func(t *testing.T) { roottest.Run(t, open) })
	}
}

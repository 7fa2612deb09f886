//go:build unix

package folio_test

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
	"github.com/foliofs/folio/rootest"
)

var (
	mirrorOps = flag.Int("mirror.ops", 20_000, "operations of the comparison with os.Root")
	mirrorDir = flag.String("mirror.dir", "", "where os.Root works; a temporary directory if empty")
)

// TestMirror makes random calls on os.Root and on volumes, the whole of them and directories of them as worlds of their own, through two connections and in
// transactions. Names, errors, contents and metadata must be the same. One more:
//
//	go test . -run TestMirror -mirror.ops 1000000 -timeout 2h
func TestMirror(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	defer folio.SetMaxLinks(folio.SetMaxLinks(8)) // as os.Root
	r := random(t)
	for name, top := range map[string]string{"volume": "", "root": "world/a/b"} {
		t.Run(name, func(t *testing.T) {
			m := newMirrored(top)
			m.Run(t, r, *mirrorOps/2)
		})
	}
}

// TestRootMirror compares os.Root with itself, which says that nothing is compared that does not have to be the same.
func TestRootMirror(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	m := &rootest.Mirror{Dir: *mirrorDir, Open: func(t *testing.T) []rootest.FS {
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o755))
		root, err := os.OpenRoot(dir)
		must(t, err)
		return []rootest.FS{rootest.Of(root, dir)}
	}}
	m.Run(t, random(t), *mirrorOps/10)
}

// newMirrored returns a Mirror of volumes or, if top is not empty, of directories in them.
func newMirrored(top string) *rootest.Mirror {
	var v *folio.FS
	m := &rootest.Mirror{Dir: *mirrorDir, Whole: true}
	m.Open = func(t *testing.T) []rootest.FS {
		path := filepath.Join(t.TempDir(), "test.folio")
		must(t, folio.Create(t.Context(), path, nil, addAll()))
		v = open(t, path)
		must(t, v.MkdirAll("./"+top, 0o755))
		return []rootest.FS{rooted(t, v, top), rooted(t, again(t, v, nil), top)}
	}
	m.Readers = func(t *testing.T) (list []rootest.FS) {
		for _, o := range []*folio.Options{nil, {ReadOnly: true}, {Plain: true, CacheSize: -1}} {
			list = append(list, rooted(t, again(t, v, o), top))
		}
		return list
	}
	if top == "" {
		m.Update = func(fn func(tx rootest.FS) error) error {
			return v.Update(context.Background(), func(tx *folio.Tx) error { return fn(rootOf(tx)) })
		}
	}
	m.Check = func() error {
		report, err := v.Check(context.Background())
		if err == nil && !report.OK() {
			err = fmt.Errorf("%+v", report.Problems)
		}
		return err
	}
	return m
}

// rooted returns a volume, or a directory of it as a world of its own.
func rooted(t *testing.T, v *folio.FS, top string) rootest.FS {
	if top == "" {
		return rootOf(v)
	}
	root, err := v.OpenRoot(top)
	must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return rootOf(root)
}

// A like is what FS, Root and Tx have in common with os.Root.
type like interface {
	rootest.Names
	rootest.Xattrs
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
}

func rootOf(l like) rootest.FS {
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
		f.Sub = func(name string) (rootest.FS, error) {
			root, err := d.OpenRoot(name)
			if err != nil {
				return rootest.FS{}, err
			}
			return rootOf(root), nil
		}
	}
	return f
}

func filesOf(l like) rootest.FS {
	return rootest.FS{
		Names: l, Xattrs: l, Owner: ownerOf,
		OpenFile: func(name string, flag int, perm fs.FileMode) (rootest.File, error) {
			f, err := l.OpenFile(name, flag, perm)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	}
}

func ownerOf(info fs.FileInfo) rootest.Owner {
	n := info.Sys().(*folio.Node)
	return rootest.Owner{Links: uint64(n.Nlink), UID: n.UID, GID: n.GID, Atime: time.Unix(0, n.Atime)}
}

// TestRootSuite runs the suite of rootest on volumes, on directories of them, and on os.Root.
func TestRootSuite(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for name, open := range map[string]func(t *testing.T) rootest.FS{
		"volume": func(t *testing.T) rootest.FS { return rootOf(empty(t)) },
		"memory": func(t *testing.T) rootest.FS { return rootOf(memoryVolume(t, nil)) },
		"root": func(t *testing.T) rootest.FS {
			v := empty(t)
			must(t, v.MkdirAll("a/b", 0o755))
			return rooted(t, v, "a/b")
		},
		"os.Root": func(t *testing.T) rootest.FS {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			must(t, err)
			t.Cleanup(func() { must(t, root.Close()) })
			return rootest.Of(root, dir)
		},
	} {
		t.Run(name, func(t *testing.T) { rootest.Run(t, open) })
	}
}

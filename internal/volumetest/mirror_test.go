//go:build unix

package volumetest

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/random"
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
	r := random.New(t)
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
		must.Do(t, os.Chmod(dir, 0o755))
		root, err := os.OpenRoot(dir)
		must.Do(t, err)
		return []roottest.FS{roottest.Of(root, dir)}
	}}
	m.Run(t, random.New(t), *mirrorOps/InQuick(40, 10))
}

// newMirrored returns a Mirror of volumes or, if top is not empty, of directories in them.
func newMirrored(top string) *roottest.Mirror {
	var v *folio.Volume
	m := Mirror(func(t *testing.T) []*folio.Volume {
		path := filepath.Join(t.TempDir(), "test.folio")
		must.Do(t, folio.Create(t.Context(), path, nil, AddAll()))
		v = Open(t, path)
		return []*folio.Volume{v, Again(t, v, nil)}
	}, func(t *testing.T) (list []*folio.Volume) {
		for _, o := range []*folio.Options{nil, {ReadOnly: true}, {NoMmap: true, CacheSize: -1}} {
			list = append(list, Again(t, v, o))
		}
		return list
	})
	m.Dir = *mirrorDir
	if top == "" {
		return m
	}
	m.Update = nil
	for _, open := range []*func(t *testing.T) []roottest.FS{&m.Open, &m.Readers} {
		whole := *open
		*open = func(t *testing.T) []roottest.FS {
			list := whole(t)
			must.Do(t, v.MkdirAll(top, 0o755))
			for i, f := range list {
				root, err := f.Sub(top)
				must.Do(t, err)
				t.Cleanup(func() { _ = root.Close() })
				list[i] = root
			}
			return list
		}
	}
	return m
}

// TestRootSuite runs the suite of roottest on volumes, on directories of them, and on os.Root.
func TestRootSuite(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for name, open := range map[string]func(t *testing.T) roottest.FS{
		"volume": func(t *testing.T) roottest.FS { return RootOf(Empty(t)) },
		"memory": func(t *testing.T) roottest.FS { return RootOf(Memory(t, nil)) },
		"root": func(t *testing.T) roottest.FS {
			v := Empty(t)
			must.Do(t, v.MkdirAll("a/b", 0o755))
			root, err := v.OpenRoot("a/b")
			must.Do(t, err)
			t.Cleanup(func() { _ = root.Close() })
			return RootOf(root)
		},
		"os.Root": func(t *testing.T) roottest.FS {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			must.Do(t, err)
			t.Cleanup(func() { must.Do(t, root.Close()) })
			return roottest.Of(root, dir)
		},
	} {
		t.Run(name, func(t *testing.T) { roottest.Run(t, open) })
	}
}

// TestTogether makes random calls from goroutines, through two connections. Nothing is left of
// removed files that are not open.
func TestTogether(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	other := Again(t, v, nil)
	Together(t, v, other)
	info, err := v.Info(t.Context())
	must.Do(t, errors.Join(err, v.Close(), other.Close()))
	WantClean(t, Open(t, info.Path))
	if got := sqlite(t, info.Path, "SELECT count(*) FROM orphan JOIN node USING (ino)"); got != "0" {
		t.Errorf("%s orphans are left", got)
	}
}

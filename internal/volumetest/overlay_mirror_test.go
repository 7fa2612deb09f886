//go:build unix

package volumetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

var overlayOps = flag.Int("overlay.ops", 12_000, "operations of the comparison of overlays with os.Root")

// TestOverlayMirror makes random calls on os.Root, in a directory that has files already, and on
// overlays over a copy of that directory. For longer:
//
//	go test ./internal/volumetest -run TestOverlayMirror -overlay.ops 1000000 -timeout 2h
func TestOverlayMirror(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	defer func(n int) { posix.MaxLinks = n }(posix.MaxLinks)
	posix.MaxLinks = 8 // as os.Root
	r := random.New(t)
	ops := *overlayOps / 4
	if testing.Short() {
		ops /= InQuick(12, 4)
	}
	for _, c := range []overlayCase{{name: "directory"}, {name: "volume", volume: true}, {name: "whole", whole: true}, {name: "changing", changes: true}} {
		t.Run(c.name, func(t *testing.T) { c.mirror(t, r).Run(t, r, ops) })
	}
}

// An overlayCase is a kind of overlay.
type overlayCase struct {
	name           string
	volume         bool // the base is one
	whole, changes bool // options
}

func (c overlayCase) mirror(t *testing.T, r *rand.Rand) *roottest.Mirror {
	var over *folio.Overlay
	var upper *folio.Volume
	var base, before string
	m := &roottest.Mirror{Dir: t.TempDir(), Whole: true}
	m.Open = func(t *testing.T) []roottest.FS {
		seed := r.Uint64()
		plain, err := filepath.Glob(filepath.Join(m.Dir, "root*"))
		must.Do(t, err)
		base = t.TempDir()
		must.Do(t, os.Chmod(base, 0o755))
		for _, dir := range []string{plain[len(plain)-1], base} {
			fillBase(t, dir, rand.New(rand.NewPCG(seed, 0)))
		}
		before = diskText(t, base)
		upper = Empty(t)
		must.Do(t, upper.Chmod(".", 0o755))
		over, err = folio.NewOverlay(c.base(t, base), upper, &folio.OverlayOptions{CopyWholeFile: c.whole, BaseChanges: c.changes})
		must.Do(t, err)
		t.Cleanup(func() { _ = over.Close() })
		return []roottest.FS{RootOf(over)}
	}
	m.Readers = func(t *testing.T) (list []roottest.FS) { // as another process that opens it later
		again, err := folio.NewOverlay(c.base(t, base), Again(t, upper, nil), &folio.OverlayOptions{BaseChanges: c.changes})
		must.Do(t, err)
		t.Cleanup(func() { _ = again.Close() })
		return []roottest.FS{RootOf(again)}
	}
	m.Update = func(fn func(tx roottest.FS) error) error {
		return over.Update(context.Background(), func(tx *folio.Tx) error { return fn(RootOf(tx)) })
	}
	m.Check = func() error {
		report, err := upper.Check(context.Background(), nil)
		if err == nil && !report.OK() {
			err = fmt.Errorf("%+v", report.Problems)
		}
		if diskText(t, base) != before {
			err = errors.Join(err, errors.New("the base has changed"))
		}
		return errors.Join(err, commitTo(t, over, base))
	}
	return m
}

// commitTo commits an overlay to a directory, and compares the two.
func commitTo(t *testing.T, v *folio.Overlay, dir string) error {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := removeInvalid(v, "."); err != nil {
		return err
	}
	want := treeText(t, v.FS())
	if err := v.Commit(t.Context(), root); err != nil {
		return err
	}
	if got := treeText(t, root.FS()); got != want {
		return fmt.Errorf("after a commit, the trees differ: %s", roottest.Difference(got, want))
	}
	return nil
}

// removeInvalid removes the files whose names package fs does not allow.
func removeInvalid(v *folio.Overlay, dir string) error {
	list, err := v.ReadDir(dir)
	for _, e := range list {
		name := path.Join(dir, e.Name())
		switch {
		case !fs.ValidPath(name):
			err = errors.Join(err, v.RemoveAll(name))
		case e.IsDir():
			err = errors.Join(err, removeInvalid(v, name))
		}
	}
	return err
}

func (c overlayCase) base(t *testing.T, dir string) fs.FS {
	if c.volume {
		return Import(t, dir).FS()
	}
	root, err := os.OpenRoot(dir)
	must.Do(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root.FS()
}

// fillBase makes some files, with the names of random calls.
func fillBase(t *testing.T, dir string, r *rand.Rand) {
	t.Helper()
	dirs := []string{dir}
	for range 30 {
		name := filepath.Join(dirs[r.IntN(len(dirs))], random.Letter(r))
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		switch r.IntN(4) {
		case 0, 1:
			must.Do(t, os.Mkdir(name, 0o755))
			dirs = append(dirs, name)
		case 2:
			must.Do(t, os.WriteFile(name, bytes.Repeat(random.Bytes(r, 1+r.IntN(1000)), 1+r.IntN(300)), 0o644))
		case 3:
			must.Do(t, os.Symlink(random.Letter(r)+"/"+random.Letter(r), name))
		}
	}
	at := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	must.Do(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type()&fs.ModeSymlink == 0 {
			err = os.Chtimes(name, at, at)
		}
		return err
	}))
}

// diskText describes a tree on disk.
func diskText(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d %v ", name, info.Mode(), info.Size(), info.ModTime())
		switch info.Mode().Type() {
		case 0:
			p, err := os.ReadFile(name)
			fmt.Fprintf(&b, "%s %v", roottest.Hash(p), err)
		case fs.ModeSymlink:
			target, err := os.Readlink(name)
			fmt.Fprint(&b, target, err)
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}

// TestOverlayRootSuite runs the suite of roottest on overlays: over an empty base, and over one
// whose files were all removed.
func TestOverlayRootSuite(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for name, full := range map[string]bool{"empty": false, "full": true} {
		t.Run(name, func(t *testing.T) {
			roottest.Run(t, func(t *testing.T) roottest.FS {
				dir := t.TempDir()
				if full {
					fillBase(t, dir, random.New(t))
				}
				over, err := folio.NewOverlay(os.DirFS(dir), Empty(t), nil)
				must.Do(t, err)
				list, err := over.ReadDir(".")
				must.Do(t, err)
				for _, e := range list {
					must.Do(t, over.RemoveAll(e.Name()))
				}
				return RootOf(over)
			})
		})
	}
}

package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/published"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/sqlstore"
)

// A walker walks a tree that it keeps in its own way.
type walker struct {
	name string
	walk func(fn fs.WalkDirFunc) error
	took []time.Duration
}

// benchmarkWalk repeats the walk of 2022: three files in as many directories, fs.WalkDir with a
// function that does nothing. The walkers take turns; the table has medians, and how many times as
// long as the operating system each takes.
func benchmarkWalk(b *testing.B, d *suite.Driver) {
	dir := b.TempDir()
	for _, name := range []string{"one", "two", "three"} {
		must.Do(b, os.MkdirAll(filepath.Join(dir, "foo", name), 0o755))
		must.Do(b, os.WriteFile(filepath.Join(dir, "foo", name, "bar.txt"), []byte(name), 0o644))
	}
	walkers := walkers(b, d, dir)
	want := answers(b, walkers[0])
	for b.Loop() {
		for _, w := range walkers {
			w.time(b, len(want))
		}
	}
	for _, w := range walkers {
		if got := answers(b, w); !slices.Equal(got, want) {
			b.Errorf("%s finds %q, want %q", w.name, got, want)
		}
	}
	b.Log(table(walkers))
}

func walkers(b *testing.B, d *suite.Driver, dir string) []*walker {
	b.Helper()
	path := filepath.Join(b.TempDir(), "walk.folio")
	must.Do(b, folio.ImportFS(context.Background(), path, os.DirFS(dir), nil))
	native, err := folio.Open(path, &folio.Options{ReadOnly: true})
	must.Do(b, err)
	b.Cleanup(func() { _ = native.Close() })
	cached, bare := walkVolume(b, d, path, 0), walkVolume(b, d, path, -1)
	return []*walker{
		onFS("os", os.DirFS(dir)),
		onFS("folio, native", native.FS()),
		onFS("folio, sqlstore", cached.FS()),
		onFS("folio, sqlstore, no cache", bare.FS()),
		{name: "folio, sqlstore, no cache, in a View", walk: func(fn fs.WalkDirFunc) error {
			return bare.View(context.Background(), func(rx *folio.Rx) error { return fs.WalkDir(rx.FS(), ".", fn) })
		}},
		onFS("as published in 2022", publishedFS(b, d, os.DirFS(dir))),
	}
}

func onFS(name string, fsys fs.FS) *walker {
	return &walker{name: name, walk: func(fn fs.WalkDirFunc) error { return fs.WalkDir(fsys, ".", fn) }}
}

func walkVolume(b *testing.B, d *suite.Driver, path string, cache int64) *folio.Volume {
	b.Helper()
	v, err := folio.OpenStore(private.Key{}, d.Open(b, path, &sqlstore.Options{ReadOnly: true}), &folio.Options{CacheSize: cache})
	must.Do(b, err)
	return v
}

func publishedFS(b *testing.B, d *suite.Driver, src fs.FS) fs.FS {
	b.Helper()
	db, err := sql.Open(d.Name, filepath.Join(b.TempDir(), "published.db"))
	must.Do(b, err)
	b.Cleanup(func() { _ = db.Close() })
	f, err := published.New(context.Background(), db)
	must.Do(b, err)
	must.Do(b, f.Merge(context.Background(), src))
	return f
}

// time walks once.
func (w *walker) time(b *testing.B, want int) {
	n, start := 0, time.Now()
	err := w.walk(func(_ string, _ fs.DirEntry, err error) error {
		n++
		return err
	})
	w.took = append(w.took, time.Since(start))
	if err != nil || n != want {
		b.Fatalf("%s: %d entries, want %d: %v", w.name, n, want, err)
	}
}

// answers returns the results of a walk.
func answers(b *testing.B, w *walker) (list []string) {
	b.Helper()
	must.Do(b, w.walk(func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size := info.Size()
		if e.IsDir() {
			size = 0
		}
		list = append(list, fmt.Sprint(name, " ", e.Type(), " ", size))
		return nil
	}))
	return list
}

func table(walkers []*walker) string {
	var s strings.Builder
	fmt.Fprintf(&s, "\n%-38s %10s %8s", "median of the walks", "us", "x os")
	for _, w := range walkers {
		m := w.median()
		fmt.Fprintf(&s, "\n%-38s %10.2f %8.2f", w.name, float64(m.Nanoseconds())/1000, float64(m)/float64(walkers[0].median()))
	}
	return s.String()
}

func (w *walker) median() time.Duration {
	sorted := slices.Sorted(slices.Values(w.took))
	return sorted[len(sorted)/2]
}

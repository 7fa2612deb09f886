//go:build unix

package pgstore_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestBranches reads trees whole, as a copy does: with more directories, more entries and more
// bytes than one trip reads ahead.
func TestBranches(t *testing.T) {
	t.Parallel()
	r := random.New(t)
	v := volume(t, pgserver.Volume(t))
	want := make(map[string]string)
	must.Do(t, v.Update(context.Background(), func(tx *folio.Tx) error {
		fill := func(dir string, files, size int) {
			must.Do(t, tx.Mkdir(dir, 0o755))
			want[dir] = "dir"
			for i := range files {
				name := fmt.Sprintf("%s/file%d", dir, i)
				want[name] = fmt.Sprintf("%s%*d", name, r.IntN(size), i)
				must.Do(t, tx.WriteFile(name, []byte(want[name]), 0o644))
			}
		}
		fill("a", 20, 10)
		fill("wide", 5, 10)
		for i := range 70 {
			fill(fmt.Sprintf("wide/%d", i), r.IntN(120), 10)
		}
		fill("deep", 1, 10)
		for i, dir := 0, "deep"; i < 30; i++ {
			dir = path.Join(dir, fmt.Sprint("d", i%3))
			fill(dir, r.IntN(4), 1000)
			fill(dir+"x", 0, 1)
		}
		for i := range 40 {
			fill(fmt.Sprintf("empty%d", i), 0, 1)
		}
		fill("long", 1010, 10)
		fill("long/below", 3, 10)
		fill("heavy", 150, 60_000)
		fill("heavy/more", 150, 60_000)
		return nil
	}))
	for range 20 { // ends while the next branch is on its way
		seen := 0
		must.Do(t, v.View(context.Background(), func(rx *folio.Rx) error {
			return fs.WalkDir(rx.FS(), ".", func(name string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					seen++
					_, err = rx.ReadFile(name)
				}
				if err == nil && seen > 30 && d.IsDir() {
					err = fs.SkipAll
				}
				return err
			})
		}))
	}
	for range 2 {
		got := make(map[string]string)
		must.Do(t, v.View(context.Background(), func(rx *folio.Rx) error {
			return fs.WalkDir(rx.FS(), ".", func(name string, d fs.DirEntry, err error) error {
				switch {
				case err != nil || name == ".":
				case d.IsDir():
					got[name] = "dir"
				default:
					var p []byte
					p, err = rx.ReadFile(name)
					got[name] = string(p)
				}
				return err
			})
		}))
		if !maps.Equal(got, want) {
			t.Errorf("%d files, want %d", len(got), len(want))
		}
		must.Do(t, v.RemoveAll("wide/5"))
		maps.DeleteFunc(want, func(name, _ string) bool { return path.Dir(name) == "wide/5" || name == "wide/5" })
	}
}

// TestBranchTrips counts the trips of a walk through many small directories.
func TestBranchTrips(t *testing.T) {
	t.Parallel()
	s := open(t, pgserver.Volume(t), &pgstore.Options{Create: true})
	v, err := folio.OpenStore(private.Key{}, s, nil)
	must.Do(t, err)
	const dirs, below = 20, 20
	must.Do(t, v.Update(ctx, func(tx *folio.Tx) error {
		for i := range 2 * longWalk {
			must.Do(t, tx.WriteFile(fmt.Sprintf("0file%d", i), []byte("text"), 0o644))
		}
		for i := range dirs * below {
			dir := fmt.Sprintf("dir%d/sub%d", i/below, i%below)
			must.Do(t, tx.MkdirAll(dir, 0o755))
			if i%3 > 0 {
				must.Do(t, tx.WriteFile(dir+"/file", []byte(dir), 0o644))
			}
		}
		return nil
	}))
	rx, err := s.Begin(ctx)
	must.Do(t, err)
	defer rx.End()
	files, visited := 0, 0
	var visit func(dir store.Ino)
	visit = func(dir store.Ino) {
		visited++
		var l store.Listing
		must.Do(t, rx.List(dir, "", 0, &l))
		for _, e := range l.Entries() {
			if e.Type == store.Dir {
				visit(e.Ino)
				continue
			}
			files++
			n, err := rx.Node(e.Ino)
			must.Do(t, err)
			p := make([]byte, n.Size)
			if _, err := rx.ReadAt(n, p, 0); err != nil && err != io.EOF {
				t.Error(err)
			}
		}
	}
	visit(store.Root)
	if trips := pgstore.Trips(rx); trips > (dirs+dirs*below)/10 {
		t.Errorf("%d trips to read %d files in %d directories", trips, files, visited)
	}
}

// longWalk is how many files a transaction reads before it reads directories ahead.
const longWalk = 8

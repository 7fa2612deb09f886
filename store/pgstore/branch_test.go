//go:build unix

package pgstore_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/pgstore/pgserver"
)

// TestBranches reads trees whole, as a copy does: with more directories, more entries and more
// bytes than one trip reads ahead.
func TestBranches(t *testing.T) {
	t.Parallel()
	r := random(t)
	v := volume(t, pgserver.Volume(t))
	want := make(map[string]string)
	must(t, v.Update(context.Background(), func(tx *folio.Tx) error {
		fill := func(dir string, files, size int) {
			must(t, tx.Mkdir(dir, 0o755))
			want[dir] = "dir"
			for i := range files {
				name := fmt.Sprintf("%s/file%d", dir, i)
				want[name] = fmt.Sprintf("%s%*d", name, r.IntN(size), i)
				must(t, tx.WriteFile(name, []byte(want[name]), 0o644))
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
		fill("long", 1010, 10)
		fill("long/below", 3, 10)
		fill("heavy", 150, 60_000)
		fill("heavy/more", 150, 60_000)
		return nil
	}))
	for range 20 { // ends while the next branch is on its way
		seen := 0
		must(t, v.View(context.Background(), func(rx *folio.Rx) error {
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
		must(t, v.View(context.Background(), func(rx *folio.Rx) error {
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
		must(t, v.RemoveAll("wide/5"))
		maps.DeleteFunc(want, func(name, _ string) bool { return path.Dir(name) == "wide/5" || name == "wide/5" })
	}
}

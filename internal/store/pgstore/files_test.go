//go:build unix

package pgstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestFilesInARow reads files as a copy of a tree does: small and large ones, some with several
// names, some of which are changed meanwhile.
func TestFilesInARow(t *testing.T) {
	t.Parallel()
	v := volume(t, pgserver.Volume(t))
	want := make(map[string]string)
	must.Do(t, v.Update(context.Background(), func(tx *folio.Tx) error {
		for d := range 5 {
			dir := fmt.Sprint("dir", d)
			must.Do(t, tx.Mkdir(dir, 0o755))
			for i := range 90 {
				name := fmt.Sprintf("%s/file%02d", dir, i)
				content := fmt.Append(nil, name)
				switch {
				case i%10 == 9:
					content = make([]byte, 70_000+i)
				case i%10 == 8:
					content = nil
				case i%10 == 7:
					must.Do(t, tx.Link(fmt.Sprintf("%s/file%02d", dir, i-5), name))
					want[name] = want[fmt.Sprintf("%s/file%02d", dir, i-5)]
					continue
				}
				must.Do(t, tx.WriteFile(name, content, 0o644))
				want[name] = string(content)
			}
		}
		return nil
	}))
	seen := 0
	must.Do(t, v.View(context.Background(), func(rx *folio.Rx) error {
		return fs.WalkDir(rx.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if seen++; seen%50 == 0 {
				must.Do(t, v.WriteFile(name, []byte("changed"), 0o644))
			}
			p, err := rx.ReadFile(name)
			if string(p) != want[name] {
				t.Errorf("%s: %.40q, want %.40q", name, p, want[name])
			}
			return err
		})
	}))
	if seen != len(want) {
		t.Errorf("%d files, want %d", seen, len(want))
	}
}

// TestReadFileTrips reads files by their paths: small ones take one trip. Large ones, links and
// files that change meanwhile give what they must.
func TestReadFileTrips(t *testing.T) {
	t.Parallel()
	address := pgserver.Volume(t)
	s := open(t, address, nil)
	v, err := folio.OpenStore(private.Key{}, s, &folio.Options{CacheSize: -1})
	must.Do(t, err)
	writer := volume(t, address)
	must.Do(t, errors.Join(v.MkdirAll("a/b", 0o755), v.Symlink("b", "a/link")))
	sizes := []int{0, 1, 100, 10_000, 65_536, 65_537, 200_000, 5, 300_000, 300_000, 7}
	for round := range 3 {
		for i, size := range sizes {
			name, want := fmt.Sprint("a/b/", i), randomBytes(size)
			must.Do(t, writer.WriteFile(name, want, 0o644))
			for _, name := range []string{name, fmt.Sprint("a/link/", i), fmt.Sprint("./a/b//", i)} {
				got, err := v.ReadFile(name)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("round %d, %s: %d bytes, %v, want %d", round, name, len(got), err, size)
				}
			}
		}
	}
	f, err := writer.Create("a/b/0")
	must.Do(t, err)
	must.Do(t, errors.Join(f.Truncate(1000), f.Close()))
	if got, err := v.ReadFile("a/b/0"); err != nil || !bytes.Equal(got, make([]byte, 1000)) {
		t.Errorf("a hole: %d bytes, %v", len(got), err)
	}
	for name, want := range map[string]error{
		"a/b": folio.ErrIsDirectory, "a/b/none": fs.ErrNotExist, "a/b/1/x": folio.ErrNotDirectory, "a/" + strings.Repeat("n", 2000): folio.ErrNameTooLong,
	} {
		if _, err := v.ReadFile(name); !errors.Is(err, want) {
			t.Errorf("%.20s: %v, want %v", name, err, want)
		}
	}
	_, err = v.ReadFile("a/b/1") // so that the next one is expected to be small
	must.Do(t, err)
	pgstore.BreakWalks(s)
	if got, err := v.ReadFile("a/b/3"); err != nil || len(got) != 10_000 {
		t.Errorf("in one trip: %d bytes, %v", len(got), err)
	}
}

//go:build unix

package pgstore_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/store/pgstore/pgserver"
)

// TestFilesInARow reads files as a copy of a tree does: small and large ones, some with several
// names, some of which are changed meanwhile.
func TestFilesInARow(t *testing.T) {
	t.Parallel()
	v := volume(t, pgserver.Volume(t))
	want := make(map[string]string)
	must(t, v.Update(context.Background(), func(tx *folio.Tx) error {
		for d := range 5 {
			dir := fmt.Sprint("dir", d)
			must(t, tx.Mkdir(dir, 0o755))
			for i := range 90 {
				name := fmt.Sprintf("%s/file%02d", dir, i)
				content := fmt.Append(nil, name)
				switch {
				case i%10 == 9:
					content = make([]byte, 70_000+i)
				case i%10 == 8:
					content = nil
				case i%10 == 7:
					must(t, tx.Link(fmt.Sprintf("%s/file%02d", dir, i-5), name))
					want[name] = want[fmt.Sprintf("%s/file%02d", dir, i-5)]
					continue
				}
				must(t, tx.WriteFile(name, content, 0o644))
				want[name] = string(content)
			}
		}
		return nil
	}))
	seen := 0
	must(t, v.View(context.Background(), func(rx *folio.Rx) error {
		return fs.WalkDir(rx.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if seen++; seen%50 == 0 {
				must(t, v.WriteFile(name, []byte("changed"), 0o644))
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

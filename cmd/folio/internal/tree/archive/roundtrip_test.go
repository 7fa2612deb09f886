package archive

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// TestRoundTrip writes a tree as each kind of archive, and reads it again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 123456789)
	entry := func(name string, mode fs.FileMode, data string) *tree.Entry {
		h := folio.Header{Name: name, Mode: mode, ModTime: at, AccessTime: at, ChangeTime: at}
		h.UID, h.GID = own()
		return &tree.Entry{Header: h, Data: []byte(data), Size: int64(len(data))}
	}
	link := entry("l", fs.ModeSymlink|0o777, "")
	link.Linkname = "a/f"
	attributed := entry("g", 0o600, strings.Repeat("long", 1<<20))
	attributed.Xattrs = map[string][]byte{"user.a": []byte("1=\x00")}
	entries := []*tree.Entry{
		entry(".", fs.ModeDir|0o700, ""), entry("a", fs.ModeDir|0o755, ""), entry("a/f", 0o644, "content"), attributed, link,
	}
	fill := func(to tree.Sink) error {
		for _, e := range entries {
			if err := to.Add(e); err != nil {
				return err
			}
		}
		return to.Finish()
	}
	for _, f := range formats {
		file := filepath.Join(t.TempDir(), "archive")
		if err := Create(t.Context(), file, f.format, new(Options), fill); err != nil {
			t.Fatal(f.name, err)
		}
		var want []string
		for _, e := range entries {
			kept := *e
			if f.format == Sqlar {
				kept.Xattrs = nil
			}
			line, err := treetest.Describe(&kept)
			if err != nil {
				t.Fatal(err)
			}
			if f.format != Sqlar || e.Name != "." {
				want = append(want, line)
			}
		}
		src, err := Open(file, nil, nil)
		if err != nil {
			t.Fatal(f.name, err)
		}
		got, err := treetest.Collect(src)
		if slices.Sort(got); err != nil {
			t.Error(f.name, err)
		}
		slices.Sort(want)
		treetest.WantLines(t, got, want)
	}
}

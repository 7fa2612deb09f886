package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/overlay"
)

// TestOverlayXattrs checks that extended attributes of a directory on disk are seen in an overlay,
// and are committed.
func TestOverlayXattrs(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "base")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.MkdirAll(filepath.Join(base, "dir"), 0o755))
	for _, name := range []string{"file", "other"} {
		check(os.WriteFile(filepath.Join(base, name), []byte(name), 0o644))
	}
	check(os.Symlink("file", filepath.Join(base, "link")))
	for _, name := range []string{"file", "dir"} {
		err := unix.Setxattr(filepath.Join(base, name), "user.a", []byte(name), 0)
		if errors.Is(err, unix.ENOTSUP) {
			t.Skip("no extended attributes here")
		}
		check(err)
	}
	o, err := overlay.Open(filepath.Join(t.TempDir(), "c.folio"), base, true)
	check(err)
	want := func(name string, want map[string]string) {
		t.Helper()
		got, err := o.Xattrs(name)
		check(err)
		text := make(map[string]string)
		for attr, value := range got {
			text[attr] = string(value)
		}
		if !maps.Equal(text, want) {
			t.Errorf("%s: %v, want %v", name, text, want)
		}
	}
	want("file", map[string]string{"user.a": "file"})
	want("dir", map[string]string{"user.a": "dir"})
	want("link", nil)
	check(o.WriteFile("file", []byte("changed"), 0o644))
	want("file", map[string]string{"user.a": "file"})
	check(o.SetXattr("other", "user.b", []byte("new")))
	check(o.RemoveXattr("dir", "user.a"))
	check(o.Base.Commit(t.Context(), o.Overlay))
	check(o.Discard(t.Context()))
	want("file", map[string]string{"user.a": "file"})
	want("other", map[string]string{"user.b": "new"})
	want("dir", nil)
	check(o.Close())
}

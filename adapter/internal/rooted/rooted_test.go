package rooted_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/internal/rooted"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

func TestResolve(t *testing.T) {
	vol := volumes.New(t)
	err := errors.Join(
		vol.MkdirAll("a/b", 0o755),
		vol.WriteFile("a/b/file", nil, 0o644),
		vol.Symlink("/a/b", "top"),
		vol.Symlink("b/../b/", "a/rel"),
		vol.Symlink("../../top", "a/b/up"),
		vol.Symlink("/", "root"),
		vol.Symlink("../../..", "a/b/out"),
		vol.Symlink("/a/ab", "a/other"),
		vol.Symlink("loop", "loop"),
		vol.Symlink("missing/../a", "gap"),
	)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		root, name string
		last       bool
		want       string
		err        error
	}{
		{".", "a/b/file", true, "a/b/file", nil},
		{".", "", true, ".", nil},
		{".", "./a//b/", true, "a/b", nil},
		{".", "a/../a", true, "a", nil},
		{".", "..", true, "", folio.ErrEscapes},
		{".", "top", true, "a/b", nil},
		{".", "top", false, "top", nil},
		{".", "top/file", false, "a/b/file", nil},
		{".", "top/../b", true, "a/b", nil},
		{".", "a/rel/file", true, "a/b/file", nil},
		{".", "a/b/up/file", true, "a/b/file", nil},
		{".", "root/root/a", true, "a", nil},
		{".", "a/b/out", true, "", folio.ErrEscapes},
		{".", "loop", true, "", syscall.ELOOP},
		{".", "loop", false, "loop", nil},
		{".", "top/new", true, "a/b/new", nil},
		{".", "new/new", true, "new/new", nil},
		{".", "gap", true, "", fs.ErrNotExist},
		{".", "a/b/file/x", true, "a/b/file/x", nil},
		{"a", "b/file", true, "a/b/file", nil},
		{"a", "..", true, "", folio.ErrEscapes},
		{"a", "b/up", true, "", folio.ErrEscapes},
		{"a", "other", true, "a/ab", nil},
		{"a/b", "out", true, "", folio.ErrEscapes},
		{"new", "x/y", true, "new/x/y", nil},
	}
	for _, tt := range tests {
		got, err := rooted.Resolve(vol, tt.root, tt.name, tt.last)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Resolve(%q, %q, %v) = %q, %v, want %q, %v", tt.root, tt.name, tt.last, got, err, tt.want, tt.err)
		}
	}
}

func TestFollow(t *testing.T) {
	vol := volumes.New(t)
	if err := errors.Join(vol.Mkdir("a", 0o755), vol.WriteFile("a/file", []byte("text"), 0o644), vol.Symlink("/a", "abs"), vol.Symlink("/loop", "loop"),
		vol.Symlink("/there/x", "here"), vol.Symlink("/here", "there")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"/a/file": nil, "//abs/file": nil, "abs/missing": fs.ErrNotExist, "/..": folio.ErrEscapes, "loop": syscall.ELOOP,
		"/here/y": syscall.ELOOP,
	} {
		err := rooted.Follow(vol, name, true, func(path string) error {
			_, err := vol.ReadFile(path)
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("Follow(%q): %v, want %v", name, err, want)
		}
	}
}

func TestNamed(t *testing.T) {
	vol := volumes.New(t)
	info, err := vol.Stat(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"/": "/", "": "/", "/a/link": "link", "a/": "a"} {
		if got := rooted.Named(info, name); got.Name() != want || !got.IsDir() {
			t.Errorf("Named(%q) has the name %q, want %q", name, got.Name(), want)
		}
	}
}

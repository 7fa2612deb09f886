package location

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v", "v:p", "a:b", "a@b", "a@b.folio", filepath.Join("sub", "v:2"), "a"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Skip("no colons in names here:", err)
		}
	}
	tests := map[string]Location{
		"v": {"v", "", ".", ""}, "v:": {"v", "", ".", ""}, "v:/": {"v", "", ".", ""}, "v:.": {"v", "", ".", ""}, "v:a/b": {"v", "", "a/b", ""},
		"v:/a//b/": {"v", "", "a/b", ""}, "v:../../a": {"v", "", "a", ""}, "v:a/../b": {"v", "", "b", ""}, "v:a:b": {"v", "", "a:b", ""},
		"a:b": {"a:b", "", ".", ""}, "a:b:c:d": {"a:b", "", "c:d", ""}, "sub/v:2:x": {"sub/v:2", "", "x", ""},
		"none": {"none", "", ".", ""}, "none:a:b": {"none", "", "a:b", ""}, ":x": {"", "", "x", ""},

		"v@s": {"v", "s", ".", ""}, "v@s:": {"v", "s", ".", ""}, "v@s:a/b": {"v", "s", "a/b", ""}, "v@s:a@b:c": {"v", "s", "a@b:c", ""},
		"v:a@b": {"v", "", "a@b", ""}, "v:a@b:c": {"v", "", "a@b:c", ""}, "v:p@s": {"v:p", "s", ".", ""}, "v:p@s:x": {"v:p", "s", "x", ""},
		"a@b": {"a@b", "", ".", ""}, "a@b.folio": {"a@b.folio", "", ".", ""}, "a@b.folio:x": {"a@b.folio", "", "x", ""},
		"a@b@s": {"a@b", "s", ".", ""}, "a@b@s:x": {"a@b", "s", "x", ""}, "a@c": {"a", "c", ".", ""}, "sub/v:2@s:x": {"sub/v:2", "s", "x", ""},
		"v@": {"v@", "", ".", ""}, "v@:x": {"v@", "", "x", ""}, "v@a/b": {"v@a/b", "", ".", ""}, "v@a@b": {"v@a@b", "", ".", ""},
		"sub@s": {"sub@s", "", ".", ""}, "none@s:x": {"none@s", "", "x", ""}, "@s:x": {"@s", "", "x", ""}, "v:@s": {"v", "", "@s", ""},
	}
	for arg, want := range tests {
		if got := Parse(arg); got != want {
			t.Errorf("locate(%q) = %+v, want %+v", arg, got, want)
		}
	}
}

// TestReadOnly says why a volume on a server cannot be written to. It has no file whose mode could
// be changed.
func TestReadOnly(t *testing.T) {
	reason := fmt.Errorf("%w: permission denied for table session", folio.ErrReadOnly)
	l := Location{Volume: "postgres://folio@db.example/files", Path: "."}
	for _, err := range []error{reason, &fs.PathError{Op: "openat", Path: "file", Err: reason}} {
		if got, want := l.ReadOnly(err).Error(), l.Volume+": "+reason.Error(); strings.TrimSpace(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

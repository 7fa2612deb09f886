package location

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v", "a:b", filepath.Join("sub", "v:2")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Skip("no colons in names here:", err)
		}
	}
	tests := map[string]Location{
		"v": {"v", "."}, "v:": {"v", "."}, "v:/": {"v", "."}, "v:.": {"v", "."}, "v:a/b": {"v", "a/b"}, "v:/a//b/": {"v", "a/b"},
		"v:../../a": {"v", "a"}, "v:a/../b": {"v", "b"}, "v:a:b": {"v", "a:b"}, "a:b": {"a:b", "."}, "a:b:c:d": {"a:b", "c:d"},
		"sub/v:2:x": {"sub/v:2", "x"}, "none": {"none", "."}, "none:a:b": {"none", "a:b"}, ":x": {"", "x"},
	}
	for arg, want := range tests {
		if got := Parse(arg); got != want {
			t.Errorf("locate(%q) = %+v, want %+v", arg, got, want)
		}
	}
}

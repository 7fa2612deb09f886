package osfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

func TestRename(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for _, name := range []string{from, to} {
		if err := os.WriteFile(name, []byte(filepath.Base(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(to, 0o640); err != nil {
		t.Fatal(err)
	}
	old, err := osfile.Open(to, osfile.ReadOnly, 0)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" { // which does not rename over an open file
		if !old.Named() {
			t.Error("has no name at first")
		}
		if err := osfile.OS.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		if old.Named() {
			t.Error("has a name although it was replaced")
		}
		data, err := os.ReadFile(to)
		info, _ := os.Stat(to)
		if string(data) != "from" || err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%q, %v, %v", data, err, info.Mode())
		}
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(from, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := osfile.OS.Rename(from, dir); !errors.Is(err, osfile.ErrNotRegular) {
		t.Errorf("over a directory: %v", err)
	}
	if err := osfile.OS.Rename(from, filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	if err := osfile.OS.Rename(from, to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}

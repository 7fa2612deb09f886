package suite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/sqlitefile"
)

// testPinAccess checks that the side database has the permissions of the volume.
func (d *Driver) testPinAccess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions")
	}
	for _, mode := range []fs.FileMode{0o600, 0o660} {
		path := filepath.Join(t.TempDir(), "test.folio")
		s := d.open(t, path, &sqlstore.Options{Create: true})
		must.Do(t, os.Chmod(path, mode))
		must.Do(t, s.Pin(store.Root))
		defer s.Unpin(store.Root)
		info, err := os.Stat(path + "-hold")
		must.Do(t, err)
		if info.Mode() != mode {
			t.Errorf("of a volume with %v: %v", mode, info.Mode())
		}
	}
}

// testPinLinks has links in place of the side database: they are not followed.
func (d *Driver) testPinLinks(t *testing.T) {
	dir := t.TempDir()
	empty, absent := filepath.Join(dir, "empty"), filepath.Join(dir, "absent")
	must.Do(t, os.WriteFile(empty, nil, 0o600))
	for name, put := range map[string]func(side string) error{
		"link":          func(side string) error { return os.Symlink(empty, side) },
		"dangling link": func(side string) error { return os.Symlink(absent, side) },
		"hard link":     func(side string) error { return os.Link(empty, side) },
	} {
		path := filepath.Join(t.TempDir(), "test.folio")
		s := d.open(t, path, &sqlstore.Options{Create: true})
		if err := put(path + "-hold"); err != nil {
			t.Skip(err)
		}
		if err := s.Pin(store.Root); !errors.Is(err, sqlitefile.ErrSideFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Stat(empty); err != nil || info.Size() != 0 {
		t.Error("written to", err)
	}
	if _, err := os.Lstat(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Error("made", err)
	}
}

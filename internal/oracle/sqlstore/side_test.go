package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/blocked"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
	"github.com/foliofs/folio/sqlitefile"
)

// TestPinAlone checks that the log can start over while an inode is pinned: a pin has no snapshot
// of the volume.
func TestPinAlone(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		s := d.Open(t, path, &sqlstore.Options{Create: true})
		must.Do(t, s.Pin(store.Root))
		defer s.Unpin(store.Root)
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) error { return tx.SetXattr(store.Root, "user.a", []byte("a")) }))
		db, err := sql.Open(d.Name, path)
		must.Do(t, err)
		defer db.Close()
		var busy, frames, copied int
		must.Do(t, db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied))
		if busy != 0 {
			t.Error("the log cannot be begun anew while an inode is held")
		}
	})
}

// TestRelease unpins a file that has no name while another Store writes: once an Update begins,
// which may wait for that, Unpin does not wait.
func TestRelease(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		s, other := d.Open(t, path, &sqlstore.Options{Create: true, BusyTimeout: time.Minute}), d.Open(t, path, nil)
		var n store.Node
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
			n, err = storetest.AddFile(tx, "file", nil)
			return errors.Join(err, s.Pin(n.Ino), storetest.RemoveFile(tx, "file"))
		}))
		released := make(chan struct{})
		must.Do(t, other.Update(context.Background(), func(store.Tx) error {
			go func() {
				s.Unpin(n.Ino)
				close(released)
			}()
			blocked.Wait(t, "TestRelease", "(*Queue).Reap")
			go func() { _ = s.Update(context.Background(), func(store.Tx) error { return nil }) }()
			select {
			case <-released:
			case <-time.After(10 * time.Second):
				t.Error("Unpin waits")
			}
			return nil
		}))
		must.Do(t, s.Close())
		if storetest.Exists(t, other, n.Ino) {
			t.Error("it is still there")
		}
	})
}

// TestPinAccess checks that the side database has the permissions of the volume.
func TestPinAccess(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		if runtime.GOOS == "windows" {
			t.Skip("no permissions")
		}
		for _, mode := range []fs.FileMode{0o600, 0o660} {
			path := filepath.Join(t.TempDir(), "test.folio")
			s := d.Open(t, path, &sqlstore.Options{Create: true})
			must.Do(t, os.Chmod(path, mode))
			must.Do(t, s.Pin(store.Root))
			defer s.Unpin(store.Root)
			info, err := os.Stat(path + "-hold")
			must.Do(t, err)
			if info.Mode() != mode {
				t.Errorf("of a volume with %v: %v", mode, info.Mode())
			}
		}
	})
}

// TestPinLinks has links in place of the side database: they are not followed.
func TestPinLinks(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		dir := t.TempDir()
		empty, absent := filepath.Join(dir, "empty"), filepath.Join(dir, "absent")
		must.Do(t, os.WriteFile(empty, nil, 0o600))
		for name, put := range map[string]func(side string) error{
			"link":          func(side string) error { return os.Symlink(empty, side) },
			"dangling link": func(side string) error { return os.Symlink(absent, side) },
			"hard link":     func(side string) error { return os.Link(empty, side) },
		} {
			path := filepath.Join(t.TempDir(), "test.folio")
			s := d.Open(t, path, &sqlstore.Options{Create: true})
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
	})
}

// TestMemory opens a name that is another database for each connection.
func TestMemory(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		_, err := sqlstore.Open(d.Name, ":memory:", &sqlstore.Options{Create: true})
		if err == nil || !strings.Contains(err.Error(), "needs a file") {
			t.Errorf("%v", err)
		}
	})
}

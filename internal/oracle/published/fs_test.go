package published

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	_ "modernc.org/sqlite"

	"github.com/foliofs/folio/internal/must"
)

func open(t *testing.T) (*FS, *sql.DB) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "test.db")+"?_pragma=foreign_keys(1)")
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	f, err := New(context.Background(), db)
	must.Do(t, err)
	return f, db
}

func mapFile(content string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(content), Mode: 0o644, ModTime: time.Unix(1, 2)}
}

func TestFS(t *testing.T) {
	t.Parallel()
	f, db := open(t)
	must.Do(t, f.Merge(context.Background(), fstest.MapFS{"foo/one/bar.txt": mapFile("one"), "foo/two/bar.txt": mapFile(""), "foo/three/bar.txt": mapFile("three")}))
	must.Do(t, f.Merge(context.Background(), fstest.MapFS{"foo/two/more": mapFile("more")}))
	must.Do(t, fstest.TestFS(f, "foo/one/bar.txt", "foo/two/bar.txt", "foo/three/bar.txt", "foo/two/more"))
	_, err := db.Exec("DELETE FROM entries WHERE name = 'two'")
	must.Do(t, err)
	if _, err := fs.Stat(f, "foo/two/more"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted with its directory: %v", err)
	}
	left := 0
	must.Do(t, db.QueryRow("SELECT count(*) FROM entries").Scan(&left))
	if left != 5 {
		t.Errorf("%d entries are left", left)
	}
}

// TestDefects checks that it is no better than what was published.
func TestDefects(t *testing.T) {
	t.Parallel()
	f, _ := open(t)
	must.Do(t, f.Merge(context.Background(), fstest.MapFS{"a/file": mapFile("old")}))
	if err := f.Merge(context.Background(), fstest.MapFS{"a/other": mapFile("x"), "z": mapFile("x")}); !errors.Is(err, ErrRoot) {
		t.Errorf("a file at the root: %v", err)
	}
	if err := f.Merge(context.Background(), fstest.MapFS{"a/another": mapFile("x"), "a/file": mapFile("new")}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	list, err := fs.ReadDir(f, "a")
	if p, rerr := fs.ReadFile(f, "a/file"); err != nil || rerr != nil || len(list) != 1 || string(p) != "old" {
		t.Errorf("something of what failed is there: %v, %q, %v", list, p, errors.Join(err, rerr))
	}
}

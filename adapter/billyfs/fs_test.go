package billyfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/util"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/billyfs"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

func mustChroot(t *testing.T, f billy.Filesystem, dir string) billy.Filesystem {
	t.Helper()
	sub, err := f.Chroot(dir)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// TestChange checks billy.Change, which the suite of go-billy does not, below the root, where links
// must be followed first.
func TestChange(t *testing.T) {
	vol := volumes.New(t)
	sub := mustChroot(t, billyfs.New(vol), "sub")
	day := time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC)
	change := sub.(billy.Change)
	err := errors.Join(
		util.WriteFile(sub, "dir/file", []byte("text"), 0o644),
		sub.Symlink("/dir/file", "link"),
		change.Chmod("link", 0o600),
		change.Chown("link", 1, 2),
		change.Lchown("link", 3, 4),
		change.Chtimes("link", day, day),
	)
	if err != nil {
		t.Fatal(err)
	}
	info, err := vol.Stat("sub/dir/file")
	if err != nil {
		t.Fatal(err)
	}
	n := info.Sys().(*folio.Node)
	if info.Mode() != 0o600 || n.UID != 1 || n.GID != 2 || !info.ModTime().Equal(day) {
		t.Errorf("the file is %v, of %d:%d", info, n.UID, n.GID)
	}
	if info, err = vol.Lstat("sub/link"); err != nil {
		t.Fatal(err)
	}
	if n := info.Sys().(*folio.Node); n.UID != 3 || n.GID != 4 {
		t.Errorf("the link is of %d:%d", n.UID, n.GID)
	}
}

// TestAbsoluteLinks checks that links with absolute targets are read as they were made, and lead to
// where they did, in the directory that they were made in and around it.
func TestAbsoluteLinks(t *testing.T) {
	all := billyfs.New(volumes.New(t))
	sub := mustChroot(t, all, "sub")
	err := errors.Join(
		util.WriteFile(sub, "file", []byte("below"), 0o644),
		util.WriteFile(all, "file", []byte("above"), 0o644),
		sub.Symlink("/./file", "inner"),
		all.Symlink("/file", "sub/outer"),
	)
	if err != nil {
		t.Fatal(err)
	}
	for f, name := range map[billy.Filesystem]string{sub: "inner", all: "sub/inner"} {
		if text, err := util.ReadFile(f, name); err != nil || string(text) != "below" {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	if target, err := sub.Readlink("inner"); err != nil || filepath.ToSlash(target) != "/./file" {
		t.Errorf("Readlink: %q, %v", target, err)
	}
	if text, err := util.ReadFile(all, "sub/outer"); err != nil || string(text) != "above" {
		t.Errorf("sub/outer holds %q, %v", text, err)
	}
	if _, err := sub.Open("outer"); err != billy.ErrCrossedBoundary {
		t.Errorf("Open of a link that leads out: %v", err)
	}
	if _, err := sub.Readlink("outer"); err != billy.ErrCrossedBoundary {
		t.Errorf("Readlink of a link that leads out: %v", err)
	}
}

// TestNothingMade checks that a call that fails has not made directories on its way.
func TestNothingMade(t *testing.T) {
	vol := volumes.New(t)
	f := billyfs.New(vol)
	sub := mustChroot(t, f, "sub")
	if _, err := f.Open("a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: %v", err)
	}
	if err := f.Rename("missing", "a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Rename: %v", err)
	}
	if err := sub.(*billyfs.FS).RemoveAll("a"); err != nil {
		t.Errorf("RemoveAll: %v", err)
	}
	if list, err := vol.ReadDir("."); err != nil || len(list) > 0 {
		t.Errorf("ReadDir: %v, %v", list, err)
	}
	if got := sub.Root(); filepath.ToSlash(got) != "/sub" {
		t.Errorf("Root: %q", got)
	}
}

// TestLock checks that a lock is one on the file, by whatever name, and ends with Close.
func TestLock(t *testing.T) {
	vol := volumes.New(t)
	f := billyfs.New(vol)
	if err := errors.Join(util.WriteFile(f, "sub/a", nil, 0o644), vol.Link("sub/a", "b")); err != nil {
		t.Fatal(err)
	}
	if billy.CapabilityCheck(f, billy.LockCapability) {
		t.Error("there is a LockCapability, though other processes are not kept out")
	}
	sub := mustChroot(t, f, "sub")
	const workers, rounds = 8, 200
	inside, count := 0, 0
	work := func(f billy.Filesystem, name string, closes bool) error {
		for range rounds {
			file, err := f.OpenFile(name, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			if err := errors.Join(file.Lock(), file.Lock()); err != nil { // the second does nothing
				return err
			}
			if inside++; inside != 1 {
				return errors.New("two have the file locked")
			}
			count++
			inside--
			if !closes {
				err = errors.Join(file.Unlock(), file.Unlock())
			}
			if err := errors.Join(err, file.Close()); err != nil {
				return err
			}
		}
		return nil
	}
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			err := work(f, "b", i%2 == 0)
			if err == nil {
				err = work(sub, "a", i%2 == 0)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if want := 2 * workers * rounds; count != want {
		t.Errorf("locked %d times, want %d", count, want)
	}
}

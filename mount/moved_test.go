//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"os"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"golang.org/x/sys/unix"
)

// TestMovedElsewhere renames directories into one that another writer has moved, which a program
// knows by a descriptor alone. A directory must not come to lie within itself even so.
func TestMovedElsewhere(t *testing.T) {
	c := newContest(t)
	for _, dir := range []string{"a/b/c", "other/deep/er", "d"} {
		must.Do(t, os.MkdirAll(c.mount.path(dir), 0o755))
	}
	held, err := unix.Open(c.mount.path("a/b/c"), unix.O_PATH|unix.O_DIRECTORY, 0)
	must.Do(t, err)
	root, err := unix.Open(c.mount.dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	must.Do(t, err)
	must.Do(t, c.vol.Rename("a/b", "other/deep/er/b"))

	if err := unix.Renameat(root, "d", held, "d"); err != nil {
		t.Errorf("rename into a directory that was moved: %v", err)
	}
	for _, above := range []string{"other", "other/deep", "other/deep/er"} {
		if err := unix.Renameat(root, above, held, "within"); !errors.Is(err, unix.EINVAL) {
			t.Errorf("rename of %s into itself: %v", above, err)
		}
	}
	if _, err := c.vol.Lstat("other/deep/er/b/c/d"); err != nil {
		t.Error(err)
	}
	must.Do(t, errors.Join(unix.Close(held), unix.Close(root)))
	c.mount.stop()
	c.second.stop()
	must.Do(t, c.vol.Close())
	checkVolume(t, c.mount.volume)
}

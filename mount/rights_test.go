//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var rightsTries = flag.Int("rights.tries", 500, "how often a user without rights tries each thing in TestRace...")

// A contest is a volume with two mounts: a user without rights works in one, and root in the other.
// All may make names in the directory, and nobody may remove those of others.
type contest struct {
	t             *testing.T
	mount, second *daemon
	vol           *folio.Volume
}

func newContest(t *testing.T) *contest {
	path := newVolume(t)
	c := &contest{t: t, mount: startDaemon(t, path), second: startDaemon(t, path)}
	var err error
	c.vol, err = folio.Open(path, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = c.vol.Close() })
	for _, d := range []*daemon{c.mount, c.second} {
		for dir := filepath.Dir(d.dir); dir != os.TempDir(); dir = filepath.Dir(dir) {
			must.Do(t, os.Chmod(dir, 0o755))
		}
	}
	must.Do(t, os.Mkdir(c.mount.path("all"), 0o777))
	must.Do(t, os.Chmod(c.mount.path("all"), 0o777|os.ModeSticky))
	must.Do(t, os.Mkdir(c.mount.path("own"), 0o700))
	return c
}

// race lets the user try something as often as the flag says, and root do something all the time
// meanwhile. It returns how often root did it.
func (c *contest) race(try func(), root func(round int)) (rounds int) {
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ; !over.Load() || rounds == 0; rounds++ {
			root(rounds)
		}
	}()
	stranger.do(c.t, func() {
		for range *rightsTries {
			try()
		}
	})
	over.Store(true)
	<-done
	return rounds
}

// TestCreateRace lets a user open a name, and make the file if it is not there, while root makes a
// file of that name in another mount. The user must never get a descriptor of root's file.
func TestCreateRace(t *testing.T) {
	for name, flags := range map[string]int{"read": unix.O_RDONLY, "write": unix.O_WRONLY, "truncate": unix.O_RDWR | unix.O_TRUNC} {
		t.Run(name, func(t *testing.T) {
			c := newContest(t)
			path, other := c.mount.path("all/secret"), c.second.path("all/secret")
			var opened, stale, refused int
			rounds := c.race(func() {
				fd, err := unix.Open(path, flags|unix.O_CREAT, 0o600)
				switch {
				case errors.Is(err, unix.ESTALE):
					stale++
				case err != nil:
					refused++
				default:
					var st unix.Stat_t
					if unix.Fstat(fd, &st) == nil && st.Uid == 0 {
						opened++
					}
					_ = unix.Close(fd)
				}
				_ = unix.Unlink(path)
			}, func(int) {
				if f, err := os.OpenFile(other, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
					_, _ = f.WriteString("secret")
					if info, err := f.Stat(); err == nil && info.Size() != 6 {
						t.Errorf("root's file has %d bytes", info.Size())
					}
					_ = f.Close()
					_ = os.Remove(other)
				}
			})
			t.Logf("%d tries, %d refused, %d got ESTALE; root made %d", *rightsTries, refused, stale, rounds)
			if opened > 0 {
				t.Errorf("the user has opened %d of root's files", opened)
			}
		})
	}
}

// removals are the ways in which a user can make another file lose its name.
var removals = map[string]func(dir string) error{
	"unlink":  func(dir string) error { return unix.Unlink(dir + "/name") },
	"rename":  func(dir string) error { return unix.Rename(dir+"/name", dir+"/moved") },
	"replace": func(dir string) error { return unix.Rename(dir+"/mine", dir+"/name") },
	"exchange": func(dir string) error {
		return unix.Renameat2(unix.AT_FDCWD, dir+"/mine", unix.AT_FDCWD, dir+"/name", unix.RENAME_EXCHANGE)
	},
}

// TestStickyRace lets a user remove and rename a file of its own in a sticky directory, while root
// puts another file in its place in another mount. Root's file must stay where it is.
func TestStickyRace(t *testing.T) {
	for name, remove := range removals {
		t.Run(name, func(t *testing.T) {
			c := newContest(t)
			dir, other := c.mount.path("all"), c.second.dir
			var stale, removed int
			rounds := c.race(func() {
				for _, name := range []string{"/name", "/mine"} {
					if fd, err := unix.Open(dir+name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600); err == nil {
						_ = unix.Close(fd)
					}
				}
				if errors.Is(remove(dir), unix.ESTALE) {
					stale++
				}
				_ = unix.Unlink(dir + "/moved")
			}, func(int) {
				must.Do(t, os.WriteFile(other+"/own/new", nil, 0o600))
				var before, after unix.Stat_t
				must.Do(t, unix.Stat(other+"/own/new", &before))
				must.Do(t, os.Rename(other+"/own/new", other+"/all/name"))
				for range 20 {
					if err := unix.Stat(other+"/all/name", &after); err != nil || before.Ino != after.Ino {
						break
					}
				}
				err := os.Remove(other + "/all/name")
				if before.Ino != after.Ino || errors.Is(err, fs.ErrNotExist) {
					removed++
				}
			})
			t.Logf("%d tries, %d got ESTALE; root made %d", *rightsTries, stale, rounds)
			if removed > 0 {
				t.Errorf("%d of root's files were removed", removed)
			}
		})
	}
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/roottest"
)

var overlayOps = flag.Int("overlay.ops", 8000, "operations of TestOverlay; 4000 take place in one directory")

// TestOverlay mounts an overlay. In directories with files of the base it makes random calls, and
// the same ones in copies of these in a volume that is mounted: the kernel has other limits for
// files on disk. Then it runs the tests of go-fuse.
func TestOverlay(t *testing.T) {
	needFUSE(t)
	defer syscall.Umask(syscall.Umask(0))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	base := t.TempDir()
	rounds := *overlayOps/4000 + 1
	for i := range rounds {
		fillTree(t, filepath.Join(base, fmt.Sprint(i)), rand.New(rand.NewPCG(seed, uint64(i))))
	}
	t.Setenv(baseVariable, base)
	d := startDaemon(t, newVolume(t))
	t.Setenv(baseVariable, "")
	plain := startDaemon(t, newVolume(t))
	m := &roottest.Mirror{Dir: plain.dir}
	round := uint64(0)
	m.Open = func(t *testing.T) []roottest.FS {
		dirs, err := filepath.Glob(filepath.Join(m.Dir, "root*"))
		must.Do(t, err)
		fillTree(t, dirs[len(dirs)-1], rand.New(rand.NewPCG(seed, round)))
		dir := d.path(fmt.Sprint(round))
		root, err := os.OpenRoot(dir)
		must.Do(t, err)
		t.Cleanup(func() { _ = root.Close() })
		round++
		f := roottest.Of(root, dir)
		f.Owner = nil // the times of reading differ
		return []roottest.FS{f}
	}
	t.Run("calls", func(t *testing.T) { m.Run(t, rand.New(rand.NewPCG(seed, 1<<32)), *overlayOps) })
	for name, fn := range posixtest.All {
		t.Run(name, func(t *testing.T) {
			if name == "FcntlFlockLocksFile" || name == "OpenSymlinkRace" {
				t.Skip("go-fuse leaves it out as well")
			}
			dir := d.path(name)
			must.Do(t, os.Mkdir(dir, 0o755))
			d.within(time.Minute, name, func() { fn(t, dir) })
		})
	}
	d.stop()
	checkVolume(t, d.volume)
	plain.stop()
}

// fillTree makes a directory, and files in it with the names of random calls.
func fillTree(t *testing.T, dir string, r *rand.Rand) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o755))
	must.Do(t, os.Chmod(dir, 0o755))
	dirs := []string{dir}
	for range 30 {
		letter := string(rune('a' + r.IntN(4)))
		name := filepath.Join(dirs[r.IntN(len(dirs))], letter)
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		switch r.IntN(4) {
		case 0, 1:
			must.Do(t, os.Mkdir(name, 0o755))
			dirs = append(dirs, name)
		case 2:
			must.Do(t, os.WriteFile(name, bytes.Repeat([]byte(letter), r.IntN(300_000)), 0o644))
		case 3:
			must.Do(t, os.Symlink(letter+"/"+letter, name))
		}
	}
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// A snapshotMounted is a volume that is mounted, and open in this process, which makes its
// snapshots.
type snapshotMounted struct {
	*daemon
	vol *folio.Volume
}

func startSnapshots(t *testing.T) *snapshotMounted {
	t.Helper()
	d := startDaemon(t, newVolume(t))
	vol, err := folio.Open(d.volume, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = vol.Close() })
	must.Do(t, vol.MkdirAll("d/e", 0o755))
	for i := range 300 {
		must.Do(t, vol.WriteFile(fmt.Sprintf("d/f%d", i), fmt.Appendf(nil, "old %d", i), 0o644))
	}
	must.Do(t, vol.WriteFile("large", make([]byte, 3<<20), 0o640))
	must.Do(t, vol.SetXattr("large", "user.a", []byte("old")))
	must.Do(t, vol.Symlink("d/f1", "link"))
	must.Do(t, vol.Link("large", "second"))
	return &snapshotMounted{d, vol}
}

func (d *snapshotMounted) snapshot(name string) {
	d.t.Helper()
	must.Do(d.t, d.vol.CreateSnapshot(context.Background(), name))
}

// wantErrno compares the errno of an error.
func wantErrno(t testing.TB, what string, err error, want ...syscall.Errno) {
	t.Helper()
	if !slices.ContainsFunc(want, func(e syscall.Errno) bool { return errors.Is(err, e) }) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// TestSnapshotDir reads snapshots in the directory .snapshots of a mount.
func TestSnapshotDir(t *testing.T) {
	d := startSnapshots(t)
	_, err := os.Stat(d.path(".snapshots"))
	wantErrno(t, "no snapshot", err, syscall.ENOENT)
	d.snapshot("b")
	d.snapshot("a")
	must.Do(t, d.vol.WriteFile("d/f1", []byte("new"), 0o644))
	must.Do(t, d.vol.Remove("d/f2"))
	must.Do(t, d.vol.WriteFile("young", nil, 0o644))
	must.Do(t, d.vol.SetXattr("large", "user.a", []byte("new")))
	must.Do(t, os.Truncate(d.path("large"), 5))
	at, err := d.vol.OpenSnapshot(t.Context(), "a")
	must.Do(t, err)
	defer at.Close()
	wantNames(t, d.path(".snapshots"), "a", "b")
	wantNames(t, d.dir, "d", "large", "link", "second", "young")
	for _, name := range []string{"a", "b"} {
		sameTree(t, at.FS(), os.DirFS(d.path(".snapshots/"+name)))
	}
	sameTree(t, d.vol.FS(), os.DirFS(d.dir))
	if target, err := os.Readlink(d.path(".snapshots/a/link")); target != "d/f1" {
		t.Errorf("%q, %v", target, err)
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(d.path(".snapshots/a/second"), "user.a", value); err != nil || string(value[:n]) != "old" {
		t.Errorf("%q, %v", value[:max(n, 0)], err)
	}
	wantNumbers(t, d)
	d.snapshot("c")
	wantNames(t, d.path(".snapshots"), "a", "b", "c")
	d.refusals()
}

// wantNames compares the names in a directory.
func wantNames(t testing.TB, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must.Do(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("%s has %q, want %q", dir, names, want)
	}
}

// sameTree compares the names, modes, times and contents of two trees.
func sameTree(t testing.TB, a, b fs.FS) {
	t.Helper()
	describe := func(fsys fs.FS) (list []string) {
		must.Do(t, fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil || name == "." {
				return err
			}
			line := fmt.Sprint(name, info.Mode(), info.ModTime().UnixNano())
			if info.Mode().IsRegular() {
				p, err := fs.ReadFile(fsys, name)
				if err != nil {
					return err
				}
				line += string(p)
			}
			list = append(list, line)
			return nil
		}))
		return list
	}
	if got, want := describe(b), describe(a); !slices.Equal(got, want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// wantNumbers looks at the numbers of inodes: those of a snapshot are others than the live ones,
// and the same names of one file have one number.
func wantNumbers(t testing.TB, d *snapshotMounted) {
	t.Helper()
	seen := make(map[uint64]string)
	for _, name := range []string{".", "d", "large", ".snapshots", ".snapshots/a", ".snapshots/b", ".snapshots/a/d", ".snapshots/b/d", ".snapshots/a/large"} {
		var st unix.Stat_t
		must.Do(t, unix.Stat(d.path(name), &st))
		if other, ok := seen[st.Ino]; ok {
			t.Errorf("%s and %s have the number %d", name, other, st.Ino)
		}
		seen[st.Ino] = name
	}
	var first, second unix.Stat_t
	must.Do(t, unix.Stat(d.path(".snapshots/a/large"), &first))
	must.Do(t, unix.Stat(d.path(".snapshots/a/second"), &second))
	if first.Ino != second.Ino || first.Nlink != 2 {
		t.Errorf("%d, %d, %d links", first.Ino, second.Ino, first.Nlink)
	}
}

// refusals tries to change a snapshot.
func (d *snapshotMounted) refusals() {
	t := d.t
	at := func(name string) string { return d.path(".snapshots/a/" + name) }
	for what, err := range map[string]error{
		"write":             os.WriteFile(at("d/f1"), nil, 0o644),
		"make":              os.WriteFile(at("new"), nil, 0o644),
		"mkdir":             os.Mkdir(at("new"), 0o755),
		"remove":            os.Remove(at("d/f1")),
		"rmdir":             unix.Rmdir(at("d/e")),
		"rename":            os.Rename(at("large"), at("other")),
		"rename out":        os.Rename(at("large"), d.path("other")),
		"rename in":         os.Rename(d.path("large"), at("other")),
		"link":              os.Link(at("large"), at("other")),
		"link in":           os.Link(d.path("large"), at("other")),
		"symlink":           os.Symlink("x", at("other")),
		"chmod":             os.Chmod(at("large"), 0o600),
		"truncate":          os.Truncate(at("large"), 0),
		"times":             os.Chtimes(at("large"), time.Now(), time.Now()),
		"setxattr":          unix.Setxattr(at("large"), "user.a", []byte("x"), 0),
		"removexattr":       unix.Removexattr(at("large"), "user.a"),
		"mknod":             unix.Mknod(at("pipe"), unix.S_IFIFO|0o600, 0),
		"make a snapshot":   os.Mkdir(d.path(".snapshots/new"), 0o755),
		"remove one":        unix.Rmdir(d.path(".snapshots/a")),
		"rename one":        os.Rename(d.path(".snapshots/a"), d.path(".snapshots/z")),
		"remove all":        unix.Rmdir(d.path(".snapshots")),
		"rename all":        os.Rename(d.path(".snapshots"), d.path("z")),
		"chmod all":         os.Chmod(d.path(".snapshots"), 0o700),
		"file in snapshots": os.WriteFile(d.path(".snapshots/file"), nil, 0o644),
	} {
		wantErrno(t, what, err, syscall.EROFS)
	}
	wantErrno(t, "link out", os.Link(at("large"), d.path("linked")), syscall.EXDEV)
	if f, err := os.OpenFile(at("d/f1"), os.O_WRONLY, 0); err == nil {
		_, err = f.Write([]byte("x"))
		wantErrno(t, "write to an open file", errors.Join(err, f.Close()), syscall.EROFS)
	}
	if got, err := readAll(at("d/f1")); got != "old 1" {
		t.Errorf("%q, %v", got, err)
	}
	d.writeMap(at("d/f3"))
	from, err := os.Open(at("large"))
	must.Do(t, err)
	defer from.Close()
	to, err := os.Create(d.path("copy"))
	must.Do(t, err)
	defer to.Close()
	if n, err := io.Copy(to, from); n != 3<<20 || err != nil {
		t.Errorf("copied %d bytes, %v", n, err)
	}
}

// writeMap changes a file of a snapshot in a map. What it writes does not stay in the caches of the
// kernel.
func (d *snapshotMounted) writeMap(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	want, err := os.ReadFile(path)
	must.Do(d.t, err)
	p, err := unix.Mmap(int(f.Fd()), 0, len(want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must.Do(d.t, err)
	p[0]++
	if err := unix.Msync(p, unix.MS_SYNC); err == nil {
		d.t.Error("a change of a map was written")
	}
	must.Do(d.t, unix.Munmap(p))
	eventually(d.t, "the snapshot has its content again", func() bool {
		got, err := os.ReadFile(path)
		return bytes.Equal(got, want) && err == nil
	})
}

// TestSnapshotDirRemoved removes snapshots while programs are in them, and makes others of the same
// name.
func TestSnapshotDirRemoved(t *testing.T) {
	d := startSnapshots(t)
	d.snapshot("a")
	dir, err := os.Open(d.path(".snapshots/a/d"))
	must.Do(t, err)
	defer dir.Close()
	list, err := os.Open(d.path(".snapshots"))
	must.Do(t, err)
	defer list.Close()
	for range 3 {
		must.Do(t, d.vol.WriteFile("d/f1", []byte("new"), 0o644))
		must.Do(t, d.vol.RemoveSnapshot(t.Context(), "a"))
		d.within(20*time.Second, "reading what is gone", func() {
			_, err := os.Stat(d.path(".snapshots/a"))
			wantErrno(t, "stat", err, syscall.ENOENT)
			for i := range 300 {
				fd, err := unix.Openat(int(dir.Fd()), fmt.Sprintf("f%d", i), unix.O_RDONLY, 0)
				if err == nil {
					_, err = unix.Read(fd, make([]byte, 10))
					_ = unix.Close(fd)
				}
				wantErrno(t, "a file", err, syscall.ESTALE, syscall.ENOENT)
			}
		})
		d.snapshot("a")
		if got, err := readAll(d.path(".snapshots/a/d/f1")); got != "new" {
			t.Errorf("%q, %v", got, err)
		}
		wantNames(t, d.path(".snapshots"), "a")
	}
	d.snapshot("b")
	eventually(t, "the directory of snapshots, which is open, changes", func() bool {
		_, err := list.Seek(0, io.SeekStart)
		must.Do(t, err)
		names, err := list.Readdirnames(-1)
		return len(names) == 2 && err == nil
	})
}

// TestSnapshotDirOwn has a file of the volume named as the directory of snapshots, which wins.
func TestSnapshotDirOwn(t *testing.T) {
	d := startSnapshots(t)
	must.Do(t, os.Mkdir(d.path(".snapshots"), 0o755))
	d.snapshot("a")
	must.Do(t, os.WriteFile(d.path(".snapshots/mine"), []byte("content"), 0o644))
	wantNames(t, d.path(".snapshots"), "mine")
	must.Do(t, os.RemoveAll(d.path(".snapshots")))
	wantNames(t, d.path(".snapshots"), "a")
	wantErrno(t, "mkdir", os.Mkdir(d.path(".snapshots"), 0o755), syscall.EEXIST)
	must.Do(t, d.vol.Mkdir(".snapshots", 0o755))
	wantNames(t, d.path(".snapshots"))
}

// TestSnapshotDirVisible lists the directory of snapshots in the root, and has it not at all.
func TestSnapshotDirVisible(t *testing.T) {
	t.Setenv(snapshotDirVariable, "visible")
	d := startSnapshots(t)
	wantNames(t, d.dir, "d", "large", "link", "second")
	d.snapshot("a")
	eventually(t, "the directory of snapshots appears", func() bool {
		list, err := os.ReadDir(d.dir)
		must.Do(t, err)
		return len(list) == 5
	})
	wantNames(t, d.dir, ".snapshots", "d", "large", "link", "second")
	if names, err := filepath.Glob(d.path(".snapshots/a/*")); len(names) != 4 {
		t.Errorf("%q, %v", names, err)
	}
	t.Setenv(snapshotDirVariable, "none")
	none := &daemon{t: t, volume: d.volume, dir: t.TempDir()}
	none.start()
	t.Cleanup(none.stop)
	_, err := os.Stat(none.path(".snapshots"))
	wantErrno(t, "none", err, syscall.ENOENT)
	must.Do(t, os.Mkdir(none.path(".snapshots"), 0o755))
}

// TestSnapshotDirRace makes and removes snapshots while programs go through all of them. Each shows
// what it was made of, or is gone.
func TestSnapshotDirRace(t *testing.T) {
	d := startSnapshots(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var reads, gone atomic.Int64
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				names, _ := filepath.Glob(d.path(".snapshots/*/d/f*"))
				for _, path := range names[:min(len(names), 40)] {
					got, err := readAll(path)
					name := filepath.Base(filepath.Dir(filepath.Dir(path)))
					switch {
					case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ESTALE):
						gone.Add(1)
					case err != nil:
						t.Errorf("%s: %v", path, err)
					case filepath.Base(path) == "f0" && !strings.HasPrefix(got, name+" "):
						t.Errorf("%s: %q", path, got)
					}
					reads.Add(1)
				}
			}
		})
	}
	d.within(time.Minute, "making snapshots", func() {
		names := []string{"a", "b", "c"}
		for i := range 150 {
			name := names[i%len(names)]
			if err := d.vol.RemoveSnapshot(context.Background(), name); err != nil && !errors.Is(err, folio.ErrNoSnapshot) {
				t.Error(err)
			}
			if err := d.vol.WriteFile("d/f0", fmt.Append(nil, name, " ", i), 0o644); err != nil {
				t.Error(err)
			}
			if err := d.vol.CreateSnapshot(context.Background(), name); err != nil {
				t.Error(err)
			}
			got, err := readAll(d.path(".snapshots/" + name + "/d/f0"))
			if errors.Is(err, syscall.ESTALE) { // another program looked the name up before, and had the answer only now
				got, err = readAll(d.path(".snapshots/" + name + "/d/f0"))
			}
			if got != fmt.Sprint(name, " ", i) {
				t.Errorf("%q, %v, want that of %d", got, err, i)
			}
		}
		close(stop)
		wg.Wait()
	})
	t.Logf("%d reads, %d of what was gone", reads.Load(), gone.Load())
}

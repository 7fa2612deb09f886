package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
)

// sparseTree makes a directory of files with holes: one of 2 TiB, which none of the commands could
// read in the time of a test, and some small ones.
func sparseTree(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "src")
	must.Do(t, os.Mkdir(dir, 0o700))
	const mib = 1 << 20
	for name, at := range map[string][]int64{
		"huge": {1 << 40, 2<<40 + 7}, "hole": {2 << 40}, "first": {5*mib + 3, 6 * mib}, "last": {0, 6 * mib},
		"many": {0, mib + 5, 2*mib - 5, 3 * mib, 4*mib + 70_000, 7*mib + 1},
	} {
		f, err := os.Create(filepath.Join(dir, name))
		must.Do(t, err)
		for _, off := range at[:len(at)-1] {
			_, err := f.WriteAt(bytes.Repeat([]byte("data"), 1000), off)
			must.Do(t, err)
		}
		if err := f.Truncate(at[len(at)-1]); err != nil {
			t.Skip("no large files here:", err)
		}
		must.Do(t, f.Close())
	}
	if room(t, filepath.Join(dir, "huge")) > 64<<10 {
		t.Skip("no holes here")
	}
	return dir
}

// room returns how many bytes a file takes on the disk.
func room(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	must.Do(t, unix.Stat(path, &st))
	return st.Blocks * 512
}

// Each command that copies a file of disk into a volume passes over its holes, and a file that is
// exported is as it was.
func TestSparseIn(t *testing.T) {
	t.Parallel()
	src := sparseTree(t)
	for name, args := range map[string][]string{
		"import": {"import", "-q", src}, "sync": {"sync", "-q", "--create", src}, "put": {"put", "--create", "-r", src + "/."},
		"put -a": {"put", "--create", "-a", src + "/."}, "cp": {"cp", "-r", src + "/."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			volume, out := filepath.Join(dir, "v.folio"), filepath.Join(dir, "out")
			if name == "cp" {
				mustRun(t, "create", volume)
			}
			mustRun(t, append(args, volume+map[bool]string{true: ":"}[name == "cp"])...)
			wantHoles(t, src, volume)
			mustRun(t, "export", "-q", volume, out)
			for _, file := range []string{"first", "last", "many", "huge", "hole"} {
				a, b := filepath.Join(src, file), filepath.Join(out, file)
				if x, y := room(t, a), room(t, b); y > x+4*store.ChunkSize {
					t.Errorf("%s takes %d bytes of the disk, and %d afterwards", file, x, y)
				}
				sameData(t, a, b)
			}
		})
	}
}

// wantHoles compares the files of a volume with those on disk: all is a hole but whole chunks with
// data.
func wantHoles(t *testing.T, src, volume string) {
	t.Helper()
	v, err := folio.Open(volume, &folio.Options{ReadOnly: true})
	must.Do(t, err)
	defer v.Close()
	list, err := os.ReadDir(src)
	must.Do(t, err)
	for _, d := range list {
		there, err := d.Info()
		must.Do(t, err)
		info, err := v.Stat(d.Name())
		must.Do(t, err)
		n := info.Sys().(*folio.Node)
		if stored := n.Size - n.Holes; n.Size != there.Size() || stored > 10*store.ChunkSize {
			t.Errorf("%s: %d of %d bytes are stored", d.Name(), stored, n.Size)
		}
	}
}

// sameData compares what is not in the holes of one of two files.
func sameData(t *testing.T, a, b string) {
	t.Helper()
	x, errX := os.Open(a)
	y, errY := os.Open(b)
	must.Do(t, errX)
	must.Do(t, errY)
	defer x.Close()
	defer y.Close()
	infoX, errX := x.Stat()
	infoY, errY := y.Stat()
	if errX != nil || errY != nil || infoX.Size() != infoY.Size() {
		t.Fatalf("%s: %v, %v", a, errX, errY)
	}
	for _, f := range []*os.File{x, y} {
		for end := int64(0); ; {
			start, err := unix.Seek(int(f.Fd()), end, unix.SEEK_DATA)
			if err != nil {
				break
			}
			end, err = unix.Seek(int(f.Fd()), start, unix.SEEK_HOLE)
			must.Do(t, err)
			p, q := make([]byte, end-start), make([]byte, end-start)
			_, errX := x.ReadAt(p, start)
			_, errY := y.ReadAt(q, start)
			if errX != nil || errY != nil || !bytes.Equal(p, q) {
				t.Errorf("%s differs from %d to %d: %v, %v", a, start, end, errX, errY)
			}
		}
	}
}

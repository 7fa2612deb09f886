//go:build linux || darwin

package disk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// sparseDirs are directories of different file systems.
func sparseDirs(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{"temporary": t.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "folio-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		dirs["memory"] = dir
	}
	return dirs
}

// A region is a part of a file that is written: from, to.
type region struct{ from, to int64 }

// writeRegions makes a file of that size, a hole but for some regions.
func writeRegions(t *testing.T, dir string, size int64, regions ...region) string {
	t.Helper()
	path := filepath.Join(dir, "f")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, r := range regions {
		if _, err := f.WriteAt(bytes.Repeat([]byte{1}, int(r.to-r.from)), r.from); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Unix(1e9, 0)
	if err := errors.Join(f.Truncate(size), os.Chtimes(path, long, long)); err != nil {
		t.Skip("no file of that size here:", err)
	}
	return path
}

// maxZeros is more than the holes that a test wants to see.
const maxZeros = 1 << 30

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// takeSparse reads the large file of a directory, as an importer does if skips is set. It returns
// how much came as holes.
func takeSparse(ctx context.Context, dir string, skips bool, content io.Writer) (holes int64, err error) {
	src, err := OpenDir(dir, nil)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	err = src.Walk(ctx, func(e *tree.Entry) error {
		if e.Content == nil {
			return nil
		}
		buf := make([]byte, 1<<16)
		for {
			if skips {
				n, err := e.Content.(folio.SparseReader).SkipHole(1 << 16)
				if err != nil {
					return err
				}
				if _, err := io.CopyN(content, zeroReader{}, n%maxZeros); err != nil {
					return err
				}
				holes += n
			}
			n, err := io.ReadFull(e.Content, buf)
			if _, writeErr := content.Write(buf[:n]); writeErr != nil {
				return writeErr
			}
			switch {
			case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
				return nil
			case err != nil:
				return err
			}
		}
	})
	return holes, err
}

// Files with holes in all places are what reading them tells, whether the holes are passed over or
// read.
func TestDirHoles(t *testing.T) {
	t.Parallel()
	const block, size = 64 << 10, 3 << 20
	random := rand.New(rand.NewPCG(1, 2))
	for system, dir := range sparseDirs(t) {
		layouts := [][]region{
			nil,
			{{0, 1}},
			{{0, block}},
			{{block, 2 * block}},
			{{size - 1, size}},
			{{size - block, size}},
			{{0, size}},
			{{0, size - 5*block}},
			{{5000, 70000}, {1<<20 + 1, 1<<20 + 2}},
			{{0, 4096}, {8192, 12288}, {16384, 20480}, {2 << 20, 2<<20 + 1}},
		}
		for range 20 {
			var list []region
			for range random.IntN(40) {
				from := random.Int64N(size)
				list = append(list, region{from, min(size, from+1+random.Int64N(3*block))})
			}
			layouts = append(layouts, list)
		}
		for _, list := range layouts {
			for _, size := range []int64{size, size + 1, size + block - 1} {
				path := writeRegions(t, dir, size, list...)
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, skips := range []bool{false, true} {
					var got bytes.Buffer
					if _, err := takeSparse(t.Context(), dir, skips, &got); err != nil || !bytes.Equal(got.Bytes(), want) {
						t.Errorf("%s, %v of %d bytes, skips %t: %d bytes, %v", system, list, size, skips, got.Len(), err)
					}
				}
			}
		}
	}
}

// Reading a file of 2 TiB ends, as most of it is a hole.
func TestDirHolesLarge(t *testing.T) {
	t.Parallel()
	for system, dir := range sparseDirs(t) {
		const size = 2<<40 + 7
		path := writeRegions(t, dir, size, region{1 << 40, 1<<40 + 1<<20})
		if !tellsHoles(t, path) {
			t.Log(system, "does not tell holes")
			continue
		}
		var total counter
		if holes, err := takeSparse(t.Context(), dir, true, &total); err != nil || total.data != 1<<20 || size-holes > 1<<20+2<<16 {
			t.Errorf("%s: %d bytes of data, %d of holes, %v", system, total.data, holes, err)
		}
	}
}

func tellsHoles(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_DATA)
	return err == nil && at > 0
}

// A counter counts bytes that are not 0.
type counter struct{ data int }

func (c *counter) Write(p []byte) (int, error) {
	c.data += len(p) - bytes.Count(p, []byte{0})
	return len(p), nil
}

// A file with holes that changes while it is read is refused.
func TestDirHolesChange(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	changes := map[string]func(f *os.File) error{
		"a hole is written to": func(f *os.File) error { _, err := f.WriteAt([]byte("x"), size/2); return err },
		"the end is written":   func(f *os.File) error { _, err := f.WriteAt([]byte("x"), size-1); return err },
		"it grows by data":     func(f *os.File) error { _, err := f.WriteAt([]byte("x"), size); return err },
		"it grows by a hole":   func(f *os.File) error { return f.Truncate(size + 1<<20) },
		"the hole is cut":      func(f *os.File) error { return f.Truncate(size / 2) },
		"data are cut":         func(f *os.File) error { return f.Truncate(1 << 20) },
		"all is cut":           func(f *os.File) error { return f.Truncate(0) },
	}
	for system, dir := range sparseDirs(t) {
		for what, change := range changes {
			path := writeRegions(t, dir, size, region{0, 8 << 20})
			w := &changer{change: func() error {
				f, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err != nil {
					return err
				}
				defer f.Close()
				return change(f)
			}}
			if _, err := takeSparse(t.Context(), dir, true, w); !errors.Is(err, tree.ErrChanged) {
				t.Errorf("%s, %s: %v", system, what, err)
			}
		}
	}
}

// A changer changes a file at the first write: most of its data are still to be read then.
type changer struct{ change func() error }

func (c *changer) Write(p []byte) (int, error) {
	if c.change == nil || len(p) == 0 {
		return len(p), nil
	}
	change := c.change
	c.change = nil
	return len(p), change()
}

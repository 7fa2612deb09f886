package volumetest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// TestEndlessDirectory walks a directory that lies in itself: the walk must end, with an error.
func TestEndlessDirectory(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	v := Craft(t, PlainRoot, func(b *native.Builder) error {
		return b.Entry(store.Root, store.Entry{Name: "d", Ino: store.Root, Type: store.Dir})
	})
	deepest := ""
	err := fs.WalkDir(v.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		deepest = name
		return err
	})
	if err == nil || len(deepest) > 1<<20 {
		t.Errorf("%v after %d bytes", err, len(deepest))
	}
	if _, err := v.Stat(strings.Repeat("d/", 100) + "d"); err != nil {
		t.Error(err)
	}
	_, _ = v.Stat(strings.Repeat("d/", 1_000_000))
	_, _ = fs.Stat(v.FS(), strings.Repeat("d/", 1_000_000)+"d")
}

// TestTwoNames copies a volume in which 2^30 paths lead to one file, as each directory has two
// names in the one above: that fails at once. Removing it works.
func TestTwoNames(t *testing.T) {
	t.Parallel()
	const levels = 30
	v := Craft(t, PlainRoot, func(b *native.Builder) (err error) {
		for ino := store.Root; ino <= levels; ino++ {
			n := store.Node{Ino: ino + 1, Mode: store.ModeDir | 0o755, Nlink: 2}
			below := store.Entry{Name: "a", Ino: n.Ino, Type: store.Dir}
			err = errors.Join(err, b.Node(&n), b.Entry(ino, below))
			below.Name = "b"
			err = errors.Join(err, b.Entry(ino, below))
		}
		return err
	})
	if err := v.Merge(t.Context(), v.FS(), "copy", nil); !errors.Is(err, folio.ErrDamaged) {
		t.Errorf("Merge: %v, want ErrDamaged", err)
	}
	path := filepath.Join(t.TempDir(), "copy.folio")
	if err := folio.ImportFS(t.Context(), path, v.FS(), nil); !errors.Is(err, folio.ErrDamaged) {
		t.Errorf("ImportFS: %v, want ErrDamaged", err)
	}
	must.Do(t, v.RemoveAll("a"))
	must.Do(t, v.RemoveAll("b"))
	if list, err := v.ReadDir("."); len(list) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// TestImpossibleNames lists a directory with names that no system takes.
func TestImpossibleNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"..", ".", "a/b", "../x", "", "x\x00y", "/etc/passwd"} {
		v := Craft(t, PlainRoot, func(b *native.Builder) error {
			n := store.Node{Ino: 2, Mode: store.ModeRegular | 0o644, Nlink: 1}
			return errors.Join(b.Node(&n), b.Entry(store.Root, store.Entry{Name: name, Ino: 2, Type: store.File}))
		})
		if list, err := v.ReadDir("."); !errors.Is(err, folio.ErrDamaged) {
			t.Errorf("%q: %v, %v; want ErrDamaged", name, list, err)
		}
		if _, err := v.Open(name); err == nil && name != "." {
			t.Errorf("%q was opened", name)
		}
	}
}

// TestManyLinks resolves links that multiply: each leads to two of the next.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	v := Create(t, func(b *folio.Builder) error {
		err := AddAll(Entry{"d", "", Dir}, Entry{"l0", "d", Link})(b)
		for i := range 30 {
			h := &folio.Header{Name: "l" + string(rune('1'+i)), Mode: Link}
			prev := "l" + string(rune('0'+i))
			h.Linkname = prev + "/../" + prev
			err = errors.Join(err, b.Add(h, nil))
		}
		long := &folio.Header{Name: "long", Mode: Link, Linkname: strings.Repeat("d/../", 6000) + "long"}
		return errors.Join(err, b.Add(long, nil))
	})
	if _, err := v.Stat("l" + string(rune('0'+30))); !errors.Is(err, folio.ErrTooManyLinks) {
		t.Errorf("%v, want ErrTooManyLinks", err)
	}
	if _, err := v.Stat("l4"); err != nil {
		t.Errorf("31 links: %v", err)
	}
	if _, err := v.Stat("long"); !errors.Is(err, folio.ErrTooManyLinks) {
		t.Errorf("%v, want ErrTooManyLinks", err)
	}
}

// TestWrongTypes reads a volume whose entries say something else than the inodes.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	types := []store.Type{store.File, store.Dir, store.Symlink, store.Fifo}
	modes := []uint32{store.ModeRegular, store.ModeDir, store.ModeSymlink, store.ModeFifo}
	for _, typ := range types {
		for _, mode := range modes {
			v := Craft(t, PlainRoot, func(b *native.Builder) error {
				n := store.Node{Ino: 2, Mode: mode, Nlink: 1, Size: 3}
				_, err := b.Bytes(2, []byte("abc"))
				return errors.Join(err, b.Node(&n), b.Entry(store.Root, store.Entry{Name: "x", Ino: 2, Type: typ}))
			})
			useAll(v, "x")
		}
	}
}

// useAll calls every method for a name. Only panics and endless loops count.
func useAll(v *folio.Volume, name string) {
	_, _ = v.Stat(name)
	_, _ = v.Lstat(name)
	_, _ = v.ReadFile(name)
	_, _ = v.ReadDir(name)
	_, _ = v.Readlink(name)
	_, _ = v.Xattrs(name)
	_, _ = v.Stat(name + "/y")
	f, err := v.Open(name)
	if err != nil {
		return
	}
	_, _ = f.Stat()
	_, _ = f.ReadDir(-1)
	_, _ = io.Copy(new(enough), f)
	_, _ = f.Seek(0, io.SeekEnd)
	_ = f.Close()
}

// enough takes so much, and then no more: a file of 16 TiB may be one hole.
type enough int

func (e *enough) Write(p []byte) (int, error) {
	if *e += enough(len(p)); *e > 16<<20 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestDanglingEntry reads entries that lead nowhere.
func TestDanglingEntry(t *testing.T) {
	t.Parallel()
	for _, typ := range []store.Type{store.File, store.Dir, store.Symlink} {
		v := Craft(t, PlainRoot, func(b *native.Builder) error {
			return b.Entry(store.Root, store.Entry{Name: "x", Ino: 7, Type: typ})
		})
		useAll(v, "x")
		list, err := v.ReadDir(".")
		must.Do(t, err)
		if _, err := list[0].Info(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		if r, err := v.Check(context.Background(), nil); err != nil || r.OK() {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// TestWrongSizes reads files that say that they are larger than their stored content.
func TestWrongSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []store.Node{
		{Size: 100}, {Size: store.MaxSize}, {Size: store.MaxSize, Holes: store.MaxSize - 3}, {Size: 1 << 40, Holes: 1 << 40}, {Size: 1 << 31},
	} {
		n.Ino, n.Mode, n.Nlink = 2, store.ModeRegular|0o644, 1
		v := Craft(t, PlainRoot, func(b *native.Builder) error {
			_, err := b.Bytes(2, []byte("abc"))
			return errors.Join(err, b.Node(&n), b.Entry(store.Root, store.Entry{Name: "x", Ino: 2, Type: store.File}))
		})
		if p, err := v.ReadFile("x"); !errors.Is(err, folio.ErrDamaged) && !errors.Is(err, folio.ErrTooLarge) {
			t.Errorf("size %d, holes %d: %d bytes, %v", n.Size, n.Holes, len(p), err)
		}
		f, err := v.Open("x")
		must.Do(t, err)
		p := make([]byte, 3)
		if _, err := f.ReadAt(p, 0); string(p) != "abc" && !errors.Is(err, folio.ErrDamaged) {
			t.Errorf("size %d: %q, %v", n.Size, p, err)
		}
	}
}

// TestLargeFile reads a file of 6 GiB, most of it a hole, at its edges.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	const size, tail = 6<<30 + 5, 6 << 30
	v := Craft(t, PlainRoot, func(b *native.Builder) error {
		return errors.Join(
			b.Chunk(2, 0, []byte(strings.Repeat("a", store.ChunkSize))),
			b.Chunk(2, 4<<30, []byte(strings.Repeat("b", store.ChunkSize))),
			b.Chunk(2, tail, []byte("tail!")),
			b.Node(&store.Node{Ino: 2, Mode: store.ModeRegular, Nlink: 1, Size: size, Holes: size - 2*store.ChunkSize - 5}),
			b.Entry(store.Root, store.Entry{Name: "large", Ino: 2, Type: store.File}),
		)
	})
	info, err := v.Stat("large")
	if err != nil || info.Size() != size {
		t.Fatalf("%v, %v", info, err)
	}
	f, err := v.Open("large")
	must.Do(t, err)
	for off, want := range map[int64]string{
		0: "aa", store.ChunkSize - 1: "a\x00", 4<<30 - 1: "\x00b", 4 << 30: "bb", 4<<30 + store.ChunkSize - 1: "b\x00",
		5 << 30: "\x00\x00", tail - 1: "\x00t", size - 2: "l!",
	} {
		p := []byte("xx")
		if n, err := f.ReadAt(p, off); n != 2 || err != nil || string(p) != want {
			t.Errorf("at %d: %q, %v; want %q", off, p, err, want)
		}
	}
	if _, err := v.ReadFile("large"); !errors.Is(err, folio.ErrTooLarge) {
		t.Errorf("ReadFile: %v, want ErrTooLarge", err)
	}
	must.Do(t, must.Second(f.Seek(-7, io.SeekEnd)))
	if p, err := io.ReadAll(f); string(p) != "\x00\x00tail!" || err != nil {
		t.Errorf("%q, %v", p, err)
	}
	WantClean(t, v)
}

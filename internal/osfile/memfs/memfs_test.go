package memfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/memfs"
)

func open(t *testing.T, f *memfs.FS, name string, flag int) osfile.Handle {
	t.Helper()
	h, err := f.Open(name, flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestContent writes, cuts and reads at random, and compares with a slice.
func TestContent(t *testing.T) {
	t.Parallel()
	h := open(t, memfs.New(), "f", osfile.ReadWrite|osfile.Create)
	r, model := rand.New(rand.NewPCG(1, 1)), []byte{}
	for step := range 200 {
		off := r.Int64N(2 << 20)
		switch r.IntN(5) {
		case 0:
			if err := h.Truncate(off); err != nil {
				t.Fatal(err)
			}
			model = append(model, make([]byte, max(0, int(off)-len(model)))...)[:off]
		default:
			p := bytes.Repeat([]byte{byte(step)}, r.IntN(600_000))
			if n, err := h.WriteAt(p, off); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			if end := int(off) + len(p); len(p) > 0 && end > len(model) {
				model = append(model, make([]byte, end-len(model))...)
			}
			copy(model[min(int(off), len(model)):], p)
		}
		if size, err := h.Size(); size != int64(len(model)) || err != nil {
			t.Fatalf("step %d: %d bytes, %v; want %d", step, size, err, len(model))
		}
		p := make([]byte, r.IntN(600_000))
		off = r.Int64N(2 << 20)
		n, err := h.ReadAt(p, off)
		want := model[min(int(off), len(model)):]
		want = want[:min(len(p), len(want))]
		if !bytes.Equal(p[:n], want) || (n < len(p)) != (err == io.EOF) {
			t.Fatalf("step %d: %d bytes at %d, %v", step, n, off, err)
		}
		model = bytes.Clone(model) // bytes that were cut off are gone
	}
}

// TestNames makes, renames and removes files.
func TestNames(t *testing.T) {
	t.Parallel()
	f := memfs.New()
	if _, err := f.Open("a", osfile.ReadWrite, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	a := open(t, f, "a", osfile.ReadWrite|osfile.CreateNew)
	if _, err := f.Open("a", osfile.ReadWrite|osfile.CreateNew, 0); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if _, err := a.WriteAt([]byte("content"), 0); err != nil {
		t.Error(err)
	}
	if err := f.Rename("a", "b"); err != nil {
		t.Error(err)
	}
	if moved, err := a.Moved(); !moved || err != nil {
		t.Error(moved, err)
	}
	if size, ok, err := f.Exists("b"); size != 7 || !ok || err != nil {
		t.Error(size, ok, err)
	}
	b := open(t, f, "b", osfile.ReadOnly)
	if _, err := b.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if err := errors.Join(f.Remove("b"), b.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	if err := f.Remove("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := a.Size(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := open(t, f, "c", osfile.ReadWrite|osfile.Create).Close(); err != nil {
		t.Error(err)
	}
	if _, ok, _ := f.Exists("c"); ok {
		t.Error("a file outlives its last handle")
	}
}

// TestLocks holds locks of two handles against each other.
func TestLocks(t *testing.T) {
	t.Parallel()
	f := memfs.New()
	a, b := open(t, f, "f", osfile.ReadWrite|osfile.Create), open(t, f, "f", osfile.ReadWrite)
	want := func(got, want error) {
		t.Helper()
		if !errors.Is(got, want) || (got == nil) != (want == nil) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	want(a.Lock(osfile.Shared, 10, 10), nil)
	want(b.Lock(osfile.Shared, 10, 10), nil)
	want(a.Lock(osfile.Exclusive, 12, 1), osfile.ErrLocked)
	want(b.Unlock(12, 1), nil)
	want(a.Lock(osfile.Exclusive, 12, 1), nil)
	want(b.Lock(osfile.Shared, 12, 1), osfile.ErrLocked)
	want(b.Lock(osfile.Shared, 13, 1), nil)
	if locked, err := a.Locked(osfile.Exclusive, 13, 1); !locked || err != nil {
		t.Error(locked, err)
	}
	if locked, err := a.Locked(osfile.Exclusive, 12, 1); locked || err != nil {
		t.Error(locked, err)
	}
	want(b.Close(), nil)
	want(a.Lock(osfile.Exclusive, 0, 1<<40), nil)
	for _, r := range [][2]int64{{0, 0}, {-1, 2}} {
		if err := a.Lock(osfile.Shared, r[0], r[1]); err == nil {
			t.Errorf("%d bytes at %d are locked", r[1], r[0])
		}
	}
}

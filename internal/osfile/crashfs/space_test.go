package crashfs_test

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
)

const block = 4096

// A disk has the methods of a handle of an FS with a limited disk.
type disk interface {
	osfile.Handle
	osfile.Disk
}

// TestFreeSpace fills a disk of a few blocks in each of the ways that take one, and frees them in
// each of the ways that give one back.
func TestFreeSpace(t *testing.T) {
	t.Parallel()
	f := crashfs.New(crashfs.WithFreeSpace(4 * block))
	h := open(t, f, "/a").(disk)
	want := func(what string, blocks int64) {
		t.Helper()
		if got, err := h.FreeSpace(); got != blocks*block || err != nil {
			t.Errorf("%s: %d bytes are free, %v; want %d", what, got, err, blocks*block)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	want("at first", 4)
	write(t, h, block-1, "ab")
	want("two blocks written", 2)
	must(h.Preallocate(0, 3*block))
	want("one more allocated", 1)
	if size, _ := h.Size(); size != block+1 {
		t.Errorf("the size is %d", size)
	}
	must(h.Truncate(block + 1))
	want("given back by the size that it has", 2)
	n, err := h.WriteAt(make([]byte, 4*block), 0)
	if n != 4*block || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := h.WriteAt([]byte("abc"), 4*block-1); n != 1 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a write over the end of the disk: %d, %v", n, err)
	}
	must(h.Punch(1, 2*block))
	want("one whole block punched", 1)
	if err := h.Preallocate(4*block, 2*block); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	want("as far as there is space", 0)
	f.LeaveFreeSpace(3 * block)
	want("freed by another program", 3)
	must(f.Remove("/a"))
	want("removed and open", 3)
	other := open(t, f, "/b").(disk)
	must(h.Close())
	if got, err := other.FreeSpace(); got != 7*block || err != nil {
		t.Errorf("after the last handle: %d, %v", got, err)
	}
	must(other.Close())
}

// TestPunchCrash loses and tears a hole, and never makes the file longer by it.
func TestPunchCrash(t *testing.T) {
	t.Parallel()
	f := crashfs.New(crashfs.WithFreeSpace(1 << 20))
	if err := f.WriteFile("/a", bytes.Repeat([]byte{1}, 2*block)); err != nil {
		t.Fatal(err)
	}
	h := open(t, f, "/a").(disk)
	if err := h.Punch(block, 2*block); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for img := range f.History().End().Images(crashfs.FullPlan(1)) {
		b := img.File("/a")
		if len(b) != 2*block || bytes.Contains(b[:block], []byte{0}) {
			t.Fatalf("%s: %d bytes, of which the hole took others", img.How, len(b))
		}
		seen[bytes.Count(b, []byte{0})] = true
	}
	if !seen[0] || !seen[block] || len(seen) < 4 {
		t.Errorf("holes of %v bytes", seen)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoLimit asks a disk without a limit.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	h := open(t, crashfs.New(), "/a").(disk)
	_, err := h.FreeSpace()
	for _, err := range []error{err, h.Preallocate(0, 1), h.Punch(0, 1)} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}

package reserve

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// A fakeDisk is a file on a disk with free bytes, which writes down what is asked of it.
type fakeDisk struct {
	osfile.Handle // nil
	size, free    int64
	calls         []string
}

func (f *fakeDisk) Size() (int64, error) { return f.size, nil }

func (f *fakeDisk) FreeSpace() (int64, error) { return f.free, nil }

func (f *fakeDisk) Truncate(size int64) error {
	f.size = size
	f.calls = append(f.calls, fmt.Sprintf("truncate %d", size))
	return nil
}

func (f *fakeDisk) Preallocate(off, n int64) error {
	f.calls = append(f.calls, fmt.Sprintf("preallocate %d %d", off, n))
	if n > f.free {
		return syscall.ENOSPC
	}
	f.free -= n
	return nil
}

func (f *fakeDisk) Punch(off, n int64) error { return nil }

func (f *fakeDisk) want(t *testing.T, calls ...string) {
	t.Helper()
	if !slices.Equal(f.calls, calls) {
		t.Errorf("calls %q, want %q", f.calls, calls)
	}
	f.calls = nil
}

func newReserve(size, free int64) (*Reserve, *fakeDisk) {
	f := &fakeDisk{size: size, free: free}
	h := osfile.Handle(f)
	return &Reserve{File: &h}, f
}

// TestEnsure commits on disks with more and less space. A roomy one is looked at rarely. On a tight
// one the file gets blocks for the pages, which may have been punched, and for its growth with the
// reserve behind it.
func TestEnsure(t *testing.T) {
	t.Parallel()
	const page = 4096
	grows := Commit{Pgnos: []uint32{2, 3, 7, 11}, Before: 10, After: 11, PageShift: 12, Bytes: 4 * page}

	r, f := newReserve(10*page, 1<<30)
	if r.Covers(grows.Bytes) {
		t.Error("a disk counts as roomy before the first look")
	}
	if isTight, err := r.Ensure(&grows); isTight || err != nil {
		t.Error(isTight, err)
	}
	if !r.Covers(look-1) || r.Covers(1) {
		t.Error("the disk is looked at too late or too early")
	}
	f.want(t)

	r, f = newReserve(10*page, 1<<20)
	if isTight, err := r.Ensure(&grows); !isTight || err != nil {
		t.Error(isTight, err)
	}
	f.want(t, "preallocate 4096 8192", "preallocate 24576 4096", fmt.Sprintf("preallocate %d %d", 10*page, page+Size))

	r, f = newReserve(10*page, page)
	if _, err := r.Ensure(&Commit{Before: 10, After: 11, PageShift: 12}); !osfile.Full(err) {
		t.Error("a commit takes the reserve:", err)
	}
	if _, err := r.Ensure(&Commit{Before: 10, After: 11, PageShift: 12, Removes: true}); err != nil || !r.Lent() {
		t.Error(err, r.Lent())
	}
	f.want(t, fmt.Sprintf("preallocate %d %d", 10*page, page+Size), fmt.Sprintf("preallocate %d %d", 10*page, page+Size), fmt.Sprintf("preallocate %d %d", 10*page, page))
}

// TestFree gives the reserve back, except the blocks for pages that lie in the log alone. Refill
// keeps as much as there is.
func TestFree(t *testing.T) {
	t.Parallel()
	r, f := newReserve(8192, 100<<10)
	r.End = func() int64 { return 12288 }
	if !r.Free() || !r.Lent() || !r.Used() {
		t.Error("nothing was given back")
	}
	f.want(t, "truncate 8192", "preallocate 8192 4096")
	r.Refill()
	if r.Lent() || !r.Used() {
		t.Error(r.Lent(), r.Used())
	}
	f.want(t, "preallocate 8192 266240", "preallocate 8192 135168", "preallocate 8192 69632")

	r, f = newReserve(8192, 100<<10)
	r.ReadOnly = true
	r.Keep()
	f.want(t)
}

// TestRuns divides numbers into the ones that follow each other.
func TestRuns(t *testing.T) {
	t.Parallel()
	var got []string
	for first, n := range runs([]uint32{1, 2, 3, 5, 9, 10}) {
		got = append(got, fmt.Sprint(first, n))
	}
	if want := []string{"1 3", "5 1", "9 2"}; !slices.Equal(got, want) {
		t.Error(got)
	}
}

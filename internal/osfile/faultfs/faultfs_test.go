package faultfs_test

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/faultfs"
	"github.com/foliofs/folio/internal/race"
)

// use does every operation once, and returns those that failed.
func use(t *testing.T, sys osfile.System) (failed []string) {
	t.Helper()
	note := func(op string, err error) {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			failed = append(failed, op)
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: %v", op, pe)
			}
		}
	}
	h, err := sys.Open("/a", osfile.ReadWrite|osfile.Create, 0o666)
	if note("open", err); err != nil {
		return failed
	}
	_, err = h.WriteAt([]byte("abcd"), 0)
	note("write", err)
	note("sync", h.Sync())
	_, err = h.ReadAt(make([]byte, 2), 0)
	note("read", err)
	note("truncate", h.Truncate(1))
	_, err = h.Size()
	note("size", err)
	_, err = h.Moved()
	note("moved", err)
	note("lock", h.Lock(osfile.Shared, 0, 1))
	_, err = h.Locked(osfile.Shared, 0, 1)
	note("locked", err)
	note("unlock", h.Unlock(0, 1))
	w, err := h.MapWords(0, 4)
	if note("words", err); err == nil {
		_ = w.Unmap()
	}
	note("close", h.Close())
	_, _, err = sys.Exists("/a")
	note("exists", err)
	note("rename", sys.Rename("/a", "/b"))
	note("remove", sys.Remove("/b"))
	note("syncdir", sys.SyncDir("/b"))
	return failed
}

func TestFaults(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fault faultfs.Fault
		want  []string
	}{
		{"none", faultfs.Fault{Err: syscall.EIO}, nil},
		{"the fourth", faultfs.Fault{N: 4, Err: syscall.EIO}, []string{"read"}},
		{"from the ninth", faultfs.Fault{N: 9, Sticky: true, Err: syscall.EIO, Ops: faultfs.Any &^ faultfs.MapWords}, []string{"locked", "exists", "rename", "remove", "syncdir"}},
		{"syncs", faultfs.Fault{N: 1, Sticky: true, Err: syscall.EIO, Ops: faultfs.Sync | faultfs.SyncDir}, []string{"sync", "syncdir"}},
		{"another file", faultfs.Fault{N: 1, Sticky: true, Err: syscall.EIO, Suffix: "b"}, []string{"remove", "syncdir"}},
		{"close", faultfs.Fault{N: 1, Err: syscall.EIO, Ops: faultfs.Close}, []string{"close"}},
		{"unlock", faultfs.Fault{N: 1, Err: syscall.EIO, Ops: faultfs.Unlock}, []string{"unlock"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inner := crashfs.New()
			sys := faultfs.New(inner)
			sys.Arm(tt.fault)
			if got := use(t, sys); !slices.Equal(got, tt.want) {
				t.Errorf("failed: %q, want %q", got, tt.want)
			}
			if len(sys.Hits()) != len(tt.want) {
				t.Errorf("hits: %q", sys.Hits())
			}
			if inner.Handles()+inner.Mappings() != 0 {
				t.Error("something is open")
			}
		})
	}
}

// TestPartial writes and reads half.
func TestPartial(t *testing.T) {
	t.Parallel()
	inner := crashfs.New()
	sys := faultfs.New(inner)
	h, err := sys.Open("/a", osfile.ReadWrite|osfile.Create, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	sys.Arm(faultfs.Fault{N: 1, Sticky: true, Partial: true, Err: syscall.ENOSPC})
	if n, err := h.WriteAt([]byte("abcdef"), 0); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("WriteAt: %d, %v", n, err)
	}
	b := []byte("------")
	if n, err := h.ReadAt(b[:4], 0); n != 2 || !errors.Is(err, syscall.ENOSPC) || string(b) != "ab----" {
		t.Errorf("ReadAt: %d, %v, %q", n, err, b)
	}
	sys.Heal()
	if n, err := h.ReadAt(b[:3], 0); n != 3 || err != nil || string(b) != "abc---" {
		t.Errorf("healed: %d, %v, %q", n, err, b)
	}
	if got := sys.Seen(); got != 2 {
		t.Errorf("%d operations counted, want 2", got)
	}
}

// TestLose lets a sync fail and lose changes, and the next one succeed without them.
func TestLose(t *testing.T) {
	t.Parallel()
	inner := crashfs.New()
	sys := faultfs.New(inner)
	h, err := sys.Open("/a", osfile.ReadWrite|osfile.Create, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	sys.Arm(faultfs.Fault{N: 1, Ops: faultfs.Sync, Lose: true, Err: syscall.EIO})
	if _, err := h.WriteAt([]byte("lost"), 0); err != nil {
		t.Fatal(err)
	}
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := errors.Join(h.Sync(), sys.SyncDir("/a")); err != nil {
		t.Fatal(err)
	}
	if got := string(inner.History().End().None().File("/a")); got != "" {
		t.Errorf("on disk: %q", got)
	}
	if got, _ := inner.ReadFile("/a"); string(got) != "lost" {
		t.Errorf("in memory: %q", got)
	}
}

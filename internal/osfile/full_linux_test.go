package osfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/osfile"
)

// smallDisk mounts a file system of 256 KiB; only root can.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("cannot mount a small disk:", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes until the disk is full.
func fill(t *testing.T, f *osfile.File) {
	t.Helper()
	for off := int64(0); off < 1<<20; off += 4096 {
		if _, err := f.WriteAt(bytes.Repeat([]byte{1}, 4096), off); err != nil {
			wantPathError(t, err, "write", f.Name(), syscall.ENOSPC)
			return
		}
	}
	t.Fatal("the small disk does not fill")
}

func TestFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	write(t, filepath.Join(dir, "x"))
	tmp, err := osfile.CreateTemp(dir, ".x-*.tmp")
	if err != nil {
		t.Fatal(err)
	}
	fill(t, tmp)
	if err := tmp.Discard(); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "x")
	wantContent(t, filepath.Join(dir, "x"), "content")
}

// A hole in a file on a full tmpfs cannot even be read: a fault inside the file, not behind its
// end.
func TestFullDiskFault(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	f, filler := open(t, filepath.Join(dir, "x")), open(t, filepath.Join(dir, "filler"))
	if err := f.Truncate(page); err != nil {
		t.Fatal(err)
	}
	m, err := f.Map(page)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	fill(t, filler)
	_, err = byteAt(m, 4096)
	if !errors.Is(err, osfile.ErrFault) || !strings.Contains(err.Error(), "offset 4096 could not be read") {
		t.Errorf("got %v", err)
	}
}

// A temporary file on another disk than its goal cannot get its name; neither is harmed.
func TestReplaceDurablyAcrossDisks(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), smallDisk(t)
	name := filepath.Join(other, "x")
	write(t, name)
	for _, install := range []func(*osfile.File, string) error{osfile.ReplaceDurably, osfile.PlaceDurably} {
		err := install(temporary(t, dir, "new"), name)
		if !errors.Is(err, syscall.EXDEV) && !errors.Is(err, os.ErrExist) {
			t.Errorf("got %v", err)
		}
	}
	wantFiles(t, dir)
	wantContent(t, name, "content")
}

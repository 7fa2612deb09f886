package volumetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

// ext4Disk mounts an ext4 file system of so many MiB, which only root can. Where that cannot be
// done the test is skipped.
func ext4Disk(t *testing.T, size int) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a small disk: only root can mount one")
	}
	image := filepath.Join(memoryDir(t), "disk")
	must.Do(t, os.WriteFile(image, make([]byte, size<<20), 0o600))
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-m", "0", image).CombinedOutput(); err != nil {
		t.Skipf("a small disk: mkfs.ext4: %v %s", err, out)
	}
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("a small disk: mount: %v %s", err, out)
	}
	t.Cleanup(func() { must.Do(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fillDisk leaves at most so many bytes free, and returns a function that frees the rest.
func fillDisk(t *testing.T, dir string, leave int) (free func()) {
	t.Helper()
	left, ballast := filepath.Join(dir, "left"), filepath.Join(dir, "ballast")
	must.Do(t, os.WriteFile(left, make([]byte, leave), 0o600))
	f, err := os.Create(ballast)
	must.Do(t, err)
	for size := 64 << 10; size >= 512 && err == nil; {
		if _, err = f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size, err = size/2, nil
		}
	}
	must.Do(t, errors.Join(err, f.Close(), os.Remove(left)))
	return func() { must.Do(t, os.Remove(ballast)) }
}

// TestFullDisk fills a real disk again and again while a volume on it is changed. The call must
// fail with the system's errno and must change nothing. The other files must be readable, and once
// there is room the same volume must go on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := ext4Disk(t, 12)
	path := filepath.Join(dir, "v.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(t, err)
	closed := false
	defer func() {
		if !closed {
			_ = v.Close() // before the disk goes
		}
	}()
	r := random.New(t)
	full := make(map[string]int) // calls that failed
	for range 12 {
		must.Do(t, v.MkdirAll("d/e", 0o755))
		must.Do(t, v.WriteFile("d/kept", stepContent(1000), 0o644))
		f, err := v.OpenFile("d/log", os.O_CREATE|os.O_RDWR, 0o644)
		must.Do(t, err)
		free := fillDisk(t, dir, r.IntN(300<<10))
		exhaust(t, v, f, r, full)
		free()
		must.Do(t, f.Close())
		must.Do(t, v.WriteFile("after", []byte("there is room"), 0o644))
		must.Do(t, v.RemoveAll("d")) // so that there is the next time
		must.Do(t, v.Sync(t.Context()))
		WantClean(t, v)
	}
	t.Logf("calls that failed: %v", full)
	if len(full) < 3 {
		t.Error("hardly any call has failed")
	}
	closed = true
	must.Do(t, v.Close())
	if got := sqlite(t, path, "PRAGMA integrity_check"); got != "ok" {
		t.Error(got)
	}
	v, err = folio.Open(path, nil)
	must.Do(t, err)
	WantFile(t, v, "after", "there is room")
	WantClean(t, v)
	must.Do(t, v.Close())
}

// exhaust changes a volume until the disk is full.
func exhaust(t *testing.T, v *folio.Volume, f *folio.File, r *rand.Rand, full map[string]int) {
	t.Helper()
	for n, failed := 0, 0; failed < 5; n++ {
		before := TreeOf(t, v)
		name, err := needRoom(v, f, r, n)
		if err == nil {
			continue
		}
		failed++
		full[name]++
		if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, folio.ErrFull) {
			t.Fatalf("%s: %v, want ErrFull", name, err)
		}
		if after := TreeOf(t, v); after != before {
			t.Fatalf("%s failed, and has changed something: %s", name, roottest.Difference(after, before))
		}
		WantFile(t, v, "d/kept", string(stepContent(1000)))
	}
}

// needRoom makes one call that needs room.
func needRoom(v *folio.Volume, f *folio.File, r *rand.Rand, n int) (name string, err error) {
	data := random.Bytes(r, 1+r.IntN(150_000))
	file := func(i int) string { return fmt.Sprint("d/e/", i) }
	switch r.IntN(7) {
	case 0:
		return "WriteFile of a new file", v.WriteFile(file(n), data, 0o644)
	case 1:
		return "WriteFile of an old file", v.WriteFile("d/old", data, 0o644)
	case 2:
		return "WriteAt", must.Second(f.WriteAt(data, r.Int64N(2<<20)))
	case 3:
		return "Write", must.Second(f.Write(data))
	case 4:
		return "MkdirAll", v.MkdirAll(fmt.Sprintf("d/e/%[1]d/%[1]d/%[1]d", n), 0o755)
	case 5:
		return "SetXattr", v.SetXattr("d/kept", fmt.Sprint("user.", n), data[:min(len(data), 60_000)])
	}
	return "Update", v.Update(context.Background(), func(tx *folio.Tx) error {
		err := tx.Rename("d/kept", "d/moved")
		for i := 0; i < 4 && err == nil; i++ {
			err = tx.WriteFile(file(100_000+4*n+i), data, 0o644)
		}
		if err == nil {
			err = tx.Rename("d/moved", "d/kept")
		}
		return err
	})
}

package volumetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
)

// tmpfsDisk mounts a tmpfs, which only root can.
func tmpfsDisk(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skip("a small disk: cannot mount one:", err)
	}
	t.Cleanup(func() { must.Do(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fillRest takes every block that is free.
func fillRest(t *testing.T, dir string) {
	t.Helper()
	f, err := os.CreateTemp(dir, "rest")
	must.Do(t, err)
	for n := 4096; n > 0; {
		if _, err := f.Write(make([]byte, n)); err != nil {
			n /= 2
		}
	}
	must.Do(t, f.Close())
}

// TestFullDiskRemoving fills a disk to the last block, by files in a volume and then by another
// file. Then each call that removes something must work, with a log next to the volume and without,
// and files can be written again. The volume must be sound.
func TestFullDiskRemoving(t *testing.T) {
	t.Parallel()
	removals := []struct {
		name   string
		remove func(v *folio.Volume, name string) error
	}{
		{"Remove", (*folio.Volume).Remove},
		{"RemoveAll", (*folio.Volume).RemoveAll},
		{"Truncate", truncate},
		{"Update", func(v *folio.Volume, name string) error {
			return v.Update(context.Background(), func(tx *folio.Tx) error { return tx.Remove(name) })
		}},
	}
	disks := map[string]func(t *testing.T) string{
		"tmpfs": func(t *testing.T) string { return tmpfsDisk(t, "size=4m") },
		"ext4":  func(t *testing.T) string { return ext4Disk(t, 12) },
	}
	for name, mount := range disks {
		for _, log := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, log %v", name, log), func(t *testing.T) {
				dir := mount(t)
				path := filepath.Join(dir, "v.folio")
				names := fillVolume(t, path)
				if log {
					other, err := folio.Open(path, nil)
					must.Do(t, err)
					defer func() { must.Do(t, other.Close()) }()
					must.Do(t, other.Remove("small")) // so that there is one
				}
				fillRest(t, dir)
				for i, removal := range removals {
					removeOnFull(t, path, names[i], removal.name, removal.remove)
				}
				for _, name := range names[len(removals):] {
					checkContent(t, path, name)
				}
				if got := sqlite(t, path, "PRAGMA integrity_check"); got != "ok" {
					t.Error(got)
				}
			})
		}
	}
}

func truncate(v *folio.Volume, name string) error {
	f, err := v.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(0), f.Close())
}

const fileOnFull = 300_000 // bytes

// fillVolume makes a volume with files of fileOnFull bytes, as many as there is room for, and
// smaller ones. It returns the names of the large ones.
func fillVolume(t *testing.T, path string) (names []string) {
	t.Helper()
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(t, err)
	must.Do(t, v.WriteFile("small", []byte("small"), 0o644))
	for _, size := range []int{fileOnFull, 20_000, 10} {
		for n := 0; ; n++ {
			name := fmt.Sprint("f", size, ".", n)
			err := v.WriteFile(name, contentOf(name, size), 0o644)
			if errors.Is(err, folio.ErrFull) || err == nil && n == 500 {
				break
			}
			must.Do(t, err)
			if size == fileOnFull {
				names = append(names, name)
			}
		}
	}
	must.Do(t, v.Close())
	if len(names) < 5 {
		t.Fatalf("only %d files", len(names))
	}
	return names
}

func contentOf(name string, size int) []byte {
	return random.Bytes(rand.New(rand.NewPCG(uint64(len(name)), uint64(name[len(name)-1]))), size)
}

// removeOnFull removes a file by a volume that is opened for it, and writes another file by a
// volume that is opened again.
func removeOnFull(t *testing.T, path, name, what string, remove func(v *folio.Volume, name string) error) {
	t.Helper()
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	if err := remove(v, name); err != nil {
		t.Errorf("%s on a full disk: %v", what, err)
	}
	must.Do(t, v.Close())
	v, err = folio.Open(path, nil)
	must.Do(t, err)
	err = v.WriteFile("again "+what, make([]byte, 50_000), 0o644)
	for n := 0; errors.Is(err, folio.ErrFull) && n < 10_000; n++ { // another Volume may read in the log for some milliseconds
		runtime.Gosched()
		err = v.WriteFile("again "+what, make([]byte, 50_000), 0o644)
	}
	if err != nil {
		t.Errorf("WriteFile after %s: %v", what, err)
	}
	WantClean(t, v)
	must.Do(t, v.Close())
}

func checkContent(t *testing.T, path, name string) {
	t.Helper()
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	WantFile(t, v, name, string(contentOf(name, fileOnFull)))
	must.Do(t, v.Close())
}

// TestFullDiskLarge removes a file whose freelist alone is larger than the room that is kept, from
// a volume on a full disk: its content goes in several transactions. A file of as many bytes can be
// written again.
func TestFullDiskLarge(t *testing.T) {
	t.Parallel()
	if Quick() {
		t.Skip("writes 300 MB")
	}
	dir := tmpfsDisk(t, "size=310m")
	path := filepath.Join(dir, "v.folio")
	must.Do(t, folio.Create(t.Context(), path, nil, func(b *folio.Builder) error {
		return b.Add(&folio.Header{Name: "large", Mode: 0o644}, io.LimitReader(rand.NewChaCha8([32]byte{1}), 300<<20))
	}))
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	must.Do(t, v.WriteFile("one", []byte("more"), 0o644))
	must.Do(t, v.Close())
	fillRest(t, dir)
	v, err = folio.Open(path, nil)
	must.Do(t, err)
	must.Do(t, v.Remove("large"))
	must.Do(t, v.Close())
	v, err = folio.Open(path, nil)
	must.Do(t, err)
	must.Do(t, v.WriteFile("again", make([]byte, 100<<20), 0o644))
	WantClean(t, v)
	must.Do(t, v.Close())
}

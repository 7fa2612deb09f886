//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system of 16 MiB, in memory.
func smallDisk(t *testing.T, kind string) (dir string) {
	t.Helper()
	needFUSE(t)
	dir = t.TempDir()
	if kind == "tmpfs" {
		if err := unix.Mount("none", dir, "tmpfs", 0, "size=16m"); err != nil {
			t.Skip("a small disk: ", err)
		}
	} else {
		memory, err := os.MkdirTemp("/dev/shm", "folio")
		if err != nil {
			t.Skip("a small disk: ", err)
		}
		t.Cleanup(func() { must.Do(t, os.RemoveAll(memory)) })
		image := filepath.Join(memory, "disk")
		must.Do(t, os.WriteFile(image, nil, 0o600))
		must.Do(t, os.Truncate(image, 16<<20))
		for _, args := range [][]string{{"mkfs.ext4", "-q", "-F", "-m", "0", image}, {"mount", "-o", "loop", image, dir}} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Skipf("a small disk: %s: %v %s", args[0], err, out)
			}
		}
	}
	t.Cleanup(func() { must.Do(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// TestFull writes until the disk below the volume is full. Programs must learn of it. Synced files
// must be there after the daemon was killed, and where files are removed there is room again.
func TestFull(t *testing.T) {
	for _, kind := range []string{"tmpfs", "ext4"} {
		t.Run(kind, func(t *testing.T) {
			d := startDaemon(t, filepath.Join(smallDisk(t, kind), "v.folio"))
			written := make(map[string][]byte)
			for _, size := range []int{400_000, 30_000, 100} {
				fillMount(t, d, size, written)
			}
			compareFiles(t, d, written)
			d.kill()
			d.start()
			compareFiles(t, d, written)
			for i := range 4 {
				name := fmt.Sprintf("file400000-%d", i)
				must.Do(t, os.Remove(d.path(name)))
				delete(written, name)
			}
			again := bytes.Repeat([]byte("again"), 40_000)
			must.Do(t, writeSynced(d.path("again"), again))
			written["again"] = again
			d.stop()
			checkVolume(t, d.volume)
			d.start()
			compareFiles(t, d, written)
		})
	}
}

// fillMount writes files of a size until there is no room for one.
func fillMount(t *testing.T, d *daemon, size int, written map[string][]byte) {
	t.Helper()
	for i := range 1000 {
		name := fmt.Sprintf("file%d-%d", size, i)
		content := bytes.Repeat([]byte{byte(i + 1)}, size)
		err := writeSynced(d.path(name), content)
		switch {
		case err == nil:
			written[name] = content
			continue
		case !errors.Is(err, syscall.ENOSPC):
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(d.path(name)); err != nil && !os.IsNotExist(err) {
			t.Errorf("on a full disk: %v", err)
		}
		if i == 0 && size > 100_000 {
			t.Error("not one file has room")
		}
		return
	}
}

// writeSynced writes a file and syncs it.
func writeSynced(path string, content []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

func compareFiles(t *testing.T, d *daemon, want map[string][]byte) {
	t.Helper()
	for name, content := range want {
		if got, err := os.ReadFile(d.path(name)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(content))
		}
	}
	if list, err := os.ReadDir(d.dir); err != nil || len(list) != len(want) {
		t.Errorf("%d names, %v; want %d", len(list), err, len(want))
	}
}

// TestReadOnlyDisk mounts a volume that lies on a disk for reading only.
func TestReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t, "tmpfs")
	d := startDaemon(t, filepath.Join(disk, "v.folio"))
	must.Do(t, os.WriteFile(d.path("file"), []byte("content"), 0o644))
	d.stop()
	must.Do(t, unix.Mount("none", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	d.start()
	if got, err := readAll(d.path("file")); got != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(d.path("other"), nil, 0o644); !errors.Is(err, syscall.EROFS) {
		t.Errorf("writing: %v", err)
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
)

// smallDisk mounts a file system of some MiB, which only root can: a tmpfs, or another one in an
// image.
func smallDisk(t *testing.T, kind string, mib int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if kind == "tmpfs" {
		if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
			t.Skip("a small disk: cannot mount one:", err)
		}
	} else {
		mountImage(t, kind, mib, dir)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func mountImage(t *testing.T, kind string, mib int, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a small disk: only root can mount one")
	}
	image := filepath.Join(memoryDir(t), "disk")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, int64(mib)<<20); err != nil {
		t.Fatal(err)
	}
	mkfs := map[string][]string{"ext4": {"mkfs.ext4", "-q", "-F", "-m", "0"}, "xfs": {"mkfs.xfs", "-q", "-f"}}[kind]
	for _, cmd := range [][]string{append(mkfs, image), {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			t.Skipf("a small disk: %s: %v %s", cmd[0], err, out)
		}
	}
}

// memoryDir returns a new directory in memory, if the system has one there: syncs of a disk whose
// image lies in it are quick.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "folio")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A fullVolume is a volume on a disk that is full.
type fullVolume struct {
	t         *testing.T
	dir, path string
	large     int // files
}

// fill puts files until there is no room for a small one either, and lets another file take the
// rest of the disk.
func (v *fullVolume) fill(large int) {
	v.t.Helper()
	v.must("", "mkdir", "--create", v.path+":d")
	for _, size := range []int{large, large / 12, 30_000} {
		for n := 0; ; n++ {
			code, _, errs := v.folio(fillerOf(n, size), "put", "-", fmt.Sprintf("%s:d/%d.%d", v.path, size, n))
			if code == exitOK && errs != "" {
				v.t.Errorf("put: %s", errs)
			}
			if code != exitOK {
				if !strings.Contains(errs, "nothing was changed") {
					v.t.Errorf("put without room: %s", errs)
				}
				break
			}
			if size == large {
				v.large++
			}
		}
	}
	rest, err := os.Create(filepath.Join(v.dir, "rest"))
	if err != nil {
		v.t.Fatal(err)
	}
	defer rest.Close()
	for n := 4096; n > 0; {
		if _, err := rest.Write(make([]byte, n)); err != nil {
			n /= 2
		}
	}
}

// fillerOf is the content of the n-th file: no zeros, which would be a hole.
func fillerOf(n, size int) []byte { return bytes.Repeat([]byte{byte(n + 1)}, size) }

func (v *fullVolume) folio(stdin []byte, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run(v.t.Context(), args, bytes.NewReader(stdin), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func (v *fullVolume) must(stdin string, args ...string) string {
	v.t.Helper()
	code, out, errs := v.folio([]byte(stdin), args...)
	if code != exitOK || errs != "" {
		v.t.Fatalf("folio %s: exit %d, %s", strings.Join(args, " "), code, errs)
	}
	return out
}

// TestFullDisk puts files until the disk is full to its last block. Each put has happened and says
// so, or has changed nothing. Then rm works, with a log next to the volume and without, and put
// works again; and nothing of the other files is lost.
func TestFullDisk(t *testing.T) {
	for _, disk := range []struct {
		kind       string
		mib, large int
	}{{"tmpfs", 4, 400_000}, {"ext4", 12, 1_000_000}, {"xfs", 300, 20_000_000}} {
		for _, log := range []bool{false, true} {
			if log && disk.kind == "xfs" {
				continue // it has no smaller ones, and takes its time
			}
			t.Run(fmt.Sprintf("%s, log %v", disk.kind, log), func(t *testing.T) {
				dir := smallDisk(t, disk.kind, disk.mib)
				v := &fullVolume{t: t, dir: dir, path: filepath.Join(dir, "v.folio")}
				if log {
					defer v.keepLog().Close()
				}
				v.fill(disk.large)
				for n := range 3 {
					v.must("", "rm", fmt.Sprintf("%s:d/%d.%d", v.path, disk.large, n))
					v.must(strings.Repeat("x", 50_000), "put", "-", fmt.Sprintf("%s:d/again%d", v.path, n))
				}
				v.whole(disk.large)
			})
		}
	}
}

// keepLog makes the volume, and keeps it open, so that its log stays next to it.
func (v *fullVolume) keepLog() *folio.Volume {
	v.t.Helper()
	vol, err := folio.Open(v.path, &folio.Options{Create: true})
	if err == nil {
		err = vol.WriteFile("kept", nil, 0o644)
	}
	if err != nil {
		v.t.Fatal(err)
	}
	return vol
}

// whole looks at what is left of the files.
func (v *fullVolume) whole(large int) {
	v.t.Helper()
	if v.large < 4 {
		v.t.Errorf("only %d files", v.large)
	}
	for n := 3; n < v.large; n++ {
		if got := v.must("", "cat", fmt.Sprintf("%s:d/%d.%d", v.path, large, n)); got != string(fillerOf(n, large)) {
			v.t.Errorf("file %d has changed", n)
		}
	}
	if out := v.must("", "check", v.path); !strings.Contains(out, ": ok: ") {
		v.t.Error(out)
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		return
	}
	if out, err := exec.Command("sqlite3", v.path, "pragma integrity_check").CombinedOutput(); err != nil || string(out) != "ok\n" {
		v.t.Errorf("sqlite3 says %s, %v", out, err)
	}
}

// TestLogLeft removes a file when another program has filled the disk, so that the log cannot be
// copied: that is a warning, as the file is removed.
func TestLogLeft(t *testing.T) {
	dir := smallDisk(t, "ext4", 12)
	v := &fullVolume{t: t, dir: dir, path: filepath.Join(dir, "v.folio")}
	vol := v.keepLog()
	for _, name := range []string{"a", "b"} {
		if err := vol.WriteFile(name, make([]byte, 1_000_000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(v.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(v.path, info.Size()); err != nil { // the blocks beyond the end go, as after a checkpoint of SQLite
		t.Fatal(err)
	}
	rest := filepath.Join(dir, "rest")
	v.leave(rest, 100_000)
	if err := vol.Close(); err == nil || !strings.Contains(err.Error(), folio.ErrWALRemains.Error()) {
		t.Logf("Close: %v", err)
	}
	code, _, errs := v.folio(nil, "rm", v.path+":a")
	if code != exitOK || !strings.HasPrefix(errs, "folio: warning: "+v.path+": ") || strings.Count(errs, "\n") != 1 {
		t.Errorf("rm: exit %d, %q", code, errs)
	}
	if err := os.Remove(rest); err != nil {
		t.Fatal(err)
	}
	v.must("", "rm", v.path+":b")
	if out := v.must("", "ls", v.path); out != "kept\n" {
		t.Errorf("ls: %q", out)
	}
	if out := v.must("", "check", v.path); !strings.Contains(out, ": ok: ") {
		t.Error(out)
	}
}

// leave fills the disk but for some bytes.
func (v *fullVolume) leave(name string, bytes int64) {
	v.t.Helper()
	var st syscall.Statfs_t
	err := syscall.Statfs(v.dir, &st)
	if err == nil {
		err = os.WriteFile(name, make([]byte, int64(st.Bavail)*int64(st.Bsize)-bytes), 0o600)
	}
	if err != nil {
		v.t.Fatal(err)
	}
}

// TestFullRestore restores a snapshot that the disk has no room for.
func TestFullRestore(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "tmpfs", 4)
	volume, big := filepath.Join(dir, "v.folio"), filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("big"), 1<<18), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "put", "--create", big, volume)
	mustRun(t, "snapshot", "create", volume, "monday")
	mustRun(t, "rm", volume+":big")
	mustRun(t, "touch", volume+":other")
	for i := range 10 {
		if code, _, _ := runFolio(t, "put", big, fmt.Sprint(volume, ":", i)); code != exitOK {
			break
		}
	}
	before := mustRun(t, "ls", "-R", volume)
	code, _, stderr := runFolio(t, "restore", volume+"@monday")
	if code != exitFailure || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "; nothing was changed\n") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if after := mustRun(t, "ls", "-R", volume); after != before {
		t.Errorf("%q, and before %q", after, before)
	}
	if out := mustRun(t, "ls", "-l", volume+"@monday"); !strings.Contains(out, "786432") {
		t.Errorf("the snapshot: %q", out)
	}
	mustRun(t, "check", volume)
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// TestWatchdog looks for the process that ends the connection of a mount if the daemon is killed.
func TestWatchdog(t *testing.T) {
	t.Run("ends with the daemon", func(t *testing.T) {
		d := startDaemon(t, newVolume(t))
		pid := d.cmd.Process.Pid
		dogs := watchdogs(t, pid)
		if len(dogs) != 1 {
			t.Fatalf("watchdogs: %v", dogs)
		}
		for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP} { // as systemd and terminals do
			must.Do(t, unix.Kill(dogs[0], signal))
		}
		must.Do(t, os.WriteFile(d.path("file"), nil, 0o644))
		must.Do(t, exec.Command("umount", d.dir).Run())
		<-d.ended
		d.cmd = nil
		if unix.Kill(dogs[0], 0) == nil {
			t.Error("the watchdog outlives the daemon")
		}
	})
	t.Run("killed", func(t *testing.T) {
		d := startDaemon(t, newVolume(t))
		must.Do(t, unix.Kill(watchdogs(t, d.cmd.Process.Pid)[0], unix.SIGKILL))
		must.Do(t, os.WriteFile(d.path("file"), []byte("content"), 0o644))
		if got, err := readAll(d.path("file")); got != "content" {
			t.Errorf("%q, %v", got, err)
		}
		d.stop()
	})
	t.Run("two mounts", func(t *testing.T) {
		needFUSE(t)
		var servers []*Server
		for range 2 {
			vol, err := folio.Open(newVolume(t), &folio.Options{Create: true})
			must.Do(t, err)
			defer vol.Close()
			s, err := Mount(vol, t.TempDir(), nil)
			must.Do(t, err)
			servers = append(servers, s)
		}
		for left := len(servers); left > 0; left-- {
			if dogs := watchdogs(t, os.Getpid()); len(dogs) != left {
				t.Errorf("watchdogs: %v; mounts: %d", dogs, left)
			}
			must.Do(t, servers[left-1].Unmount())
		}
		if dogs := watchdogs(t, os.Getpid()); len(dogs) != 0 {
			t.Errorf("watchdogs: %v; mounts: none", dogs)
		}
	})
}

// watchdogs returns the watchdogs among the children of a process.
func watchdogs(t *testing.T, parent int) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must.Do(t, err)
	for _, name := range stats {
		text, _ := os.ReadFile(name) // it may have ended
		var pid, ppid int
		var state string
		rest, _ := strings.CutPrefix(string(text[strings.IndexByte(string(text), ')')+1:]), " ")
		if n, _ := fmt.Sscan(rest, &state, &ppid); n == 2 && ppid == parent && strings.Contains(string(text), "(mount-watchdog)") {
			_, _ = fmt.Sscan(string(text), &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestDeviceKept starts a program in a process that serves a mount. If the program had the device
// of the mount, the mount would hang when the process is killed, until the program has ended.
func TestDeviceKept(t *testing.T) {
	needFUSE(t)
	vol, err := folio.Open(newVolume(t), &folio.Options{Create: true})
	must.Do(t, err)
	defer vol.Close()
	for _, daemon := range []bool{false, true} {
		s, err := Mount(vol, t.TempDir(), &Options{Daemon: daemon})
		must.Do(t, err)
		cmd := exec.Command("ls", "-l", "/proc/self/fd")
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "/dev/fuse") {
			t.Errorf("%v: a program has the files\n%s", err, out)
		}
		must.Do(t, s.Unmount())
	}
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"golang.org/x/sys/unix"
)

// programVariable makes the test binary a program that uses a mount: "read" or "write".
const programVariable = "FOLIO_MOUNT_PROGRAM"

// healed is how long programs may take to end after the daemon was killed, and the mount to be
// unmounted.
const healed = 5 * time.Second

// TestKilledInUse kills the daemon while programs read and write files that a second mount changes.
// The daemon is then likely to wait in the kernel for a page whose request only it could answer.
// Every other time it is a program that may use the mount itself.
// All programs must end with errors, and the mount must be unmounted.
func TestKilledInUse(t *testing.T) {
	volume := newVolume(t)
	other := startDaemon(t, volume)
	for i := range inUseFiles {
		must.Do(t, os.WriteFile(other.path(inUseName(i)), make([]byte, inUseSize), 0o644))
	}
	for round := range *kills {
		t.Setenv(libraryVariable, []string{"", "1"}[round%2])
		d := startDaemon(t, volume)
		programs := startPrograms(t, other.dir, "write", "write")
		programs = append(programs, startPrograms(t, d.dir, "write", "write", "read", "read", "read", "read", "read", "read", "read", "read")...)
		time.Sleep(time.Duration(50+rand.IntN(300)) * time.Millisecond)
		d.killInUse(round, programs[2:])
		for _, p := range programs[:2] {
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
	}
	other.stop()
	checkVolume(t, volume)
}

// killInUse kills the daemon, and looks whether all programs end and the mount can be unmounted.
func (d *daemon) killInUse(round int, programs []*program) {
	d.t.Helper()
	device := deviceOf(d.t, d.dir)
	_ = d.cmd.Process.Kill()
	limit := time.After(healed)
	hanging := 0
	for _, p := range programs {
		select {
		case err := <-p.ended:
			if err != nil {
				d.t.Errorf("kill %d: a program ended with %v", round, err)
			}
		case <-limit:
			limit = time.After(0)
			hanging++
		}
	}
	unmounted := make(chan error, 1)
	go func() { unmounted <- unix.Unmount(d.dir, 0) }()
	var err error
	select {
	case err = <-unmounted:
	case <-time.After(healed):
		err = errors.New("it hangs")
	}
	if hanging > 0 || err != nil {
		d.t.Errorf("kill %d: %d of %d programs hang; umount: %v", round, hanging, len(programs), err)
		abort(d.t, device)
		_ = unix.Unmount(d.dir, unix.MNT_DETACH)
	}
	<-d.ended
	d.cmd = nil
}

// deviceOf returns the number of the device of a mount.
func deviceOf(t testing.TB, dir string) uint32 {
	t.Helper()
	var st unix.Stat_t
	must.Do(t, unix.Stat(dir, &st))
	return unix.Minor(st.Dev)
}

// abort ends the connection of a mount, so that nothing hangs any more.
func abort(t testing.TB, device uint32) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, unix.Mount("fusectl", dir, "fusectl", 0, ""))
	defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
	must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(device), "abort"), []byte("1"), 0o200))
}

// The files that programs use.
const (
	inUseFiles = 4
	inUseSize  = 1 << 20
)

func inUseName(i int) string { return fmt.Sprintf("file%d", i) }

// A program is a process that uses a mount until it gets an error.
type program struct {
	cmd   *exec.Cmd
	ended chan error
}

func startPrograms(t testing.TB, dir string, kinds ...string) (list []*program) {
	t.Helper()
	for _, kind := range kinds {
		p := &program{cmd: exec.Command(os.Args[0], dir), ended: make(chan error, 1)}
		p.cmd.Env = append(os.Environ(), programVariable+"="+kind)
		p.cmd.Stderr = os.Stderr
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		must.Do(t, p.cmd.Start())
		go func() { p.ended <- p.cmd.Wait() }()
		list = append(list, p)
	}
	return list
}

// runProgram reads or writes the files in the directory of the first argument, until the daemon of
// the mount is gone. The kernel lets programs read what it has in memory even then, so that each
// turn asks for something that it never keeps.
func runProgram(kind string) {
	dir, content := os.Args[1], []byte(strings.Repeat("x", inUseSize))
	for {
		err := useFile(filepath.Join(dir, inUseName(rand.IntN(inUseFiles))), kind == "write", content)
		if err == nil {
			err = unix.Statfs(dir, new(unix.Statfs_t))
		}
		switch err {
		case nil, unix.EINTR:
		case unix.ENOTCONN, unix.ECONNABORTED, unix.ECANCELED, unix.EIO:
			return
		default:
			fmt.Fprintln(os.Stderr, kind, err)
			os.Exit(1)
		}
	}
}

// useFile reads a file, or writes a part of it. Package os would hide some errors of the kernel.
func useFile(name string, write bool, content []byte) error {
	flag := unix.O_RDONLY
	if write {
		flag = unix.O_WRONLY
	}
	fd, err := unix.Open(name, flag|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if write {
		off := rand.IntN(inUseSize)
		_, err = unix.Pwrite(fd, content[off:min(inUseSize, off+64<<10)], int64(off))
	} else {
		_, err = unix.Pread(fd, make([]byte, inUseSize), 0)
	}
	return err
}

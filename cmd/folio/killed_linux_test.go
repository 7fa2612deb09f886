package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/mountpoint"
	"github.com/foliofs/folio/internal/must"
)

var kills = flag.Int("kills", 7, "how often TestKilledDaemon kills the daemon of a mount")

// healed is how long programs may take to end after the daemon was killed, and a command that
// unmounts.
const healed = 5 * time.Second

// killedWays are the ways to mount a volume, and to unmount it after its daemon was killed. If the
// watchdog is killed with it, programs hang until the mount is unmounted.
var killedWays = []struct {
	mount    string
	unmount  []string
	watchdog bool // it is killed, too
}{
	{"foreground", nil, false},
	{"background", nil, false},
	{"helper", nil, false},
	{"overlay", nil, false},
	{"foreground", nil, true},
	{"background", []string{"--lazy"}, true},
	{"helper", []string{"--force"}, true},
}

// TestKilledDaemon kills the daemons of mounts which programs read and write while a second mount
// changes the same files. All programs must end with errors, and the mount must be unmounted.
func TestKilledDaemon(t *testing.T) {
	t.Parallel()
	if err := mountpoint.Able(); err != nil {
		t.Skip("mounting volumes:", err)
	}
	if os.Geteuid() != 0 || !canMount() {
		t.Skip("mounting volumes: needs root, and the right to mount")
	}
	dir := t.TempDir()
	source, other := filepath.Join(dir, "source"), filepath.Join(dir, "other")
	for _, name := range []string{source, other} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range usedFiles {
		if err := os.WriteFile(filepath.Join(source, usedName(i)), make([]byte, usedSize), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	volume := filepath.Join(dir, "v.folio")
	mustRun(t, "import", "-q", source, volume)
	mustFolio(t, "mount", "--background", volume, other)
	t.Cleanup(func() { mustFolio(t, "unmount", other) })
	for round := range *kills {
		way := killedWays[round%len(killedWays)]
		k := &killed{t: t, volume: volume, dir: filepath.Join(dir, fmt.Sprint("m", round))}
		if way.mount == "overlay" {
			k.overlay(source, filepath.Join(dir, fmt.Sprintf("c%d.folio", round)))
		} else {
			k.mount(way.mount)
			k.use("write", "write", "read", "read", "read", "read", "read", "read", "read", "read")
		}
		changers := &killed{t: t, dir: other}
		changers.use("write", "write")
		until := int64(10 + rand.IntN(300))
		waitFor(t, "the programs use the mount", func() bool { return k.uses.Load()+changers.uses.Load() >= until })
		k.kill(way.watchdog)
		if !way.watchdog {
			k.end()
		}
		k.unmount(way.unmount)
		k.end()
		for _, p := range changers.programs {
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
		if t.Failed() {
			k.giveUp()
			t.Fatalf("kill %d: %+v", round, way)
		}
	}
	mustRun(t, "check", volume)
}

// A killed is a mount whose daemon is killed.
type killed struct {
	t           *testing.T
	volume, dir string
	daemon      *usingProgram // if it is in the foreground
	uses        useCount      // of programs
	programs    []*usingProgram
}

// A useCount counts the bytes that programs write: one for each use.
type useCount struct{ atomic.Int64 }

func (u *useCount) Write(p []byte) (int, error) {
	u.Add(int64(len(p)))
	return len(p), nil
}

// A usingProgram uses a mount until it gets an error.
type usingProgram struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// start starts this program under a name.
func (k *killed) start(args ...string) *usingProgram {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	p := &usingProgram{cmd: &exec.Cmd{Path: self, Args: args}, ended: make(chan struct{})}
	if args[0] == usingName {
		p.cmd.Stdout = &k.uses
	}
	if err := p.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	return p
}

// mount mounts the volume.
func (k *killed) mount(way string) {
	k.t.Helper()
	if err := os.Mkdir(k.dir, 0o755); err != nil {
		k.t.Fatal(err)
	}
	switch way {
	case "foreground":
		k.daemon = k.start("folio", "mount", k.volume, k.dir)
	case "background":
		mustFolio(k.t, "mount", "--background", k.volume, k.dir)
	case "helper":
		<-k.start(helperName, k.volume, k.dir).ended
	}
	k.announced()
}

// announced waits until all of the mount is done.
func (k *killed) announced() {
	k.t.Helper()
	waitFor(k.t, k.dir+" is mounted", func() bool {
		mounts, err := mountpoint.Volumes()
		must.Do(k.t, err)
		return slices.ContainsFunc(mounts, func(m mountpoint.Mount) bool { return m.Dir == k.dir && announced(&m) })
	})
}

// use starts programs that use the mount.
func (k *killed) use(kinds ...string) {
	k.t.Helper()
	for _, kind := range kinds {
		k.programs = append(k.programs, k.start(usingName, k.dir, kind))
	}
}

// overlay runs a program in an overlay over a directory. The mount is where the program says.
func (k *killed) overlay(base, volume string) {
	k.t.Helper()
	dirFile := filepath.Join(filepath.Dir(k.dir), "dir"+filepath.Base(k.dir))
	k.daemon = k.start("folio", "overlay", "run", "--base", base, volume, "sh", "-c", `pwd >"$0".new && mv "$0".new "$0" && exec sleep 100`, dirFile)
	waitFor(k.t, "the overlay is mounted", func() bool {
		text, err := os.ReadFile(dirFile)
		k.dir = strings.TrimSpace(string(text))
		return err == nil
	})
	k.use("write", "write", "read", "read", "read", "read", "read", "read", "read", "read")
}

// giveUp ends what hangs.
func (k *killed) giveUp() {
	_ = unix.Unmount(k.dir, unix.MNT_DETACH|unix.MNT_FORCE)
	for _, p := range k.programs {
		_ = p.cmd.Process.Kill()
	}
}

// kill kills the daemon, and the watchdog if need be.
func (k *killed) kill(watchdog bool) {
	k.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		k.t.Fatal(err)
	}
	if watchdog {
		for _, pid := range k.find(files, "mount-watchdog") {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	if k.daemon != nil {
		_ = k.daemon.cmd.Process.Kill()
		return
	}
	pids := k.find(files, "folio\x00mount")
	if len(pids) != 1 {
		k.t.Fatalf("%s: daemons: %v", k.dir, pids)
	}
	_ = unix.Kill(pids[0], unix.SIGKILL)
}

// find returns the processes that have the directory as an argument and begin with a name.
func (k *killed) find(files []string, name string) (pids []int) {
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended
		if bytes.HasPrefix(text, []byte(name+"\x00")) && bytes.Contains(text, []byte("\x00"+k.dir+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// end waits for the programs.
func (k *killed) end() {
	k.t.Helper()
	limit, hanging := time.After(healed), 0
	for _, p := range k.programs {
		select {
		case <-p.ended:
		case <-limit:
			limit = time.After(0)
			hanging++
		}
	}
	if hanging > 0 {
		k.t.Errorf("%s: %d of %d programs hang", k.dir, hanging, len(k.programs))
	}
}

// unmount unmounts by the command.
func (k *killed) unmount(flags []string) {
	k.t.Helper()
	p := k.start(append(append([]string{"folio", "unmount"}, flags...), k.dir)...)
	select {
	case <-p.ended:
	case <-time.After(healed):
		k.t.Errorf("folio unmount %v hangs", flags)
		return
	}
	mounts, err := mountpoint.Volumes()
	if p.cmd.ProcessState.ExitCode() != 0 || err != nil || slices.ContainsFunc(mounts, func(m mountpoint.Mount) bool { return m.Dir == k.dir }) {
		k.t.Errorf("folio unmount %v: %v, %v, %v", flags, p.cmd.ProcessState, mounts, err)
	}
}

// mustFolio runs the command as a process of its own.
func mustFolio(t *testing.T, args ...string) {
	t.Helper()
	p := (&killed{t: t}).start(append([]string{"folio"}, args...)...)
	<-p.ended
	if !p.cmd.ProcessState.Success() {
		t.Fatalf("folio %v: %v", args, p.cmd.ProcessState)
	}
}

// usingName is the name under which this program uses a mount.
const usingName = "use-mount"

func init() { testPrograms[usingName] = useMount }

// The files that programs use.
const (
	usedFiles = 4
	usedSize  = 1 << 20
)

func usedName(i int) string { return fmt.Sprint("file", i) }

// useMount reads or writes files in a directory until that fails.
func useMount() {
	dir, kind := os.Args[1], os.Args[2]
	content := bytes.Repeat([]byte("x"), usedSize)
	for {
		err := useFile(filepath.Join(dir, usedName(rand.IntN(usedFiles))), kind == "write", content)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
		fmt.Print(".")
	}
}

// useFile reads a file, or writes a part of it.
func useFile(name string, write bool, content []byte) error {
	if !write {
		_, err := os.ReadFile(name)
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	off := rand.IntN(usedSize)
	_, err = f.WriteAt(content[off:min(usedSize, off+64<<10)], int64(off))
	return err
}

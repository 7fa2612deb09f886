//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/pgstore"
)

// The daemon of a mount is a process of its own in these tests: a program that waits for a request
// to the kernel must not answer it. It is the test binary itself.

const daemonVariable = "FOLIO_MOUNT_DAEMON"

// baseVariable is the directory over which the daemon mounts an overlay, in place of the volume.
const baseVariable = "FOLIO_MOUNT_BASE"

// libraryVariable lets the process mount as a program does that uses the mount itself.
const libraryVariable = "FOLIO_MOUNT_LIBRARY"

// snapshotDirVariable says whether the mount has a directory of snapshots: visible, none, or
// neither.
const snapshotDirVariable = "FOLIO_MOUNT_SNAPSHOTS"

// noXattrsVariable says that the mount has no extended attributes.
const noXattrsVariable = "FOLIO_MOUNT_NO_XATTRS"

// busyVariable says how long the daemon waits for other processes that write.
const busyVariable = "FOLIO_MOUNT_BUSY"

func TestMain(m *testing.M) {
	if os.Getenv(daemonVariable) != "" {
		serveDaemon()
		return
	}
	if kind := os.Getenv(programVariable); kind != "" {
		runProgram(kind)
		return
	}
	if how := os.Getenv(followerVariable); how != "" {
		followFiles(how)
		return
	}
	flag.Parse()
	pgserver.Main(m)
}

// serveDaemon mounts the volume of the first argument at the second, until a signal comes.
func serveDaemon() {
	vol, err := openVolume(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	shown := vol
	if base := os.Getenv(baseVariable); base != "" {
		shown = overlayOver(base, vol)
	}
	snapshots := map[string]SnapshotDir{"visible": SnapshotsVisible, "none": SnapshotsNone}[os.Getenv(snapshotDirVariable)]
	s, err := Mount(shown, os.Args[2], &Options{AllowOther: true, Options: []string{"dev", "suid"}, Daemon: os.Getenv(libraryVariable) == "", SnapshotDir: snapshots, NoXattrs: os.Getenv(noXattrsVariable) != ""})
	if err != nil {
		log.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	fmt.Println("mounted")
	go func() {
		for range signals {
			if err := s.Unmount(); err != nil {
				log.Print(err)
			}
		}
	}()
	s.Wait()
	w := &s.fs.stats
	fmt.Printf("%d looks, %d changes of others, %d of anything; made to forget: %d inodes, %d names\n",
		w.looks.Load(), w.changes.Load(), w.alls.Load(), w.inodes.Load(), w.entries.Load())
	if err := vol.Close(); err != nil {
		log.Fatal(err)
	}
}

// openVolume opens a volume in a file or on a server, and makes it if need be.
func openVolume(name string) (*folio.Volume, error) {
	if !pgstore.IsAddress(name) {
		busy, _ := time.ParseDuration(os.Getenv(busyVariable))
		return folio.Open(name, &folio.Options{Create: true, BusyTimeout: busy})
	}
	return pgstore.Open(context.Background(), name, &pgstore.Options{Create: true})
}

// overlayOver returns an overlay over a directory.
func overlayOver(base string, vol *folio.Volume) *folio.Volume {
	root, err := os.OpenRoot(base)
	if err != nil {
		log.Fatal(err)
	}
	over, err := folio.NewOverlay(root.FS(), vol, nil)
	if err != nil {
		log.Fatal(err)
	}
	return over.Volume(private.Key{})
}

// A daemon is a volume that is mounted by another process.
type daemon struct {
	t      testing.TB
	volume string
	dir    string
	cmd    *exec.Cmd
	ended  chan error
	stats  string // what the watch has done, once the daemon has ended
	said   said   // what it wrote to standard error
}

// said keeps what a process writes to standard error, and passes it on.
type said struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	return os.Stderr.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// needFUSE skips a test where nothing can be mounted.
func needFUSE(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	_ = f.Close()
	if os.Geteuid() != 0 {
		t.Skip("mounting by mount(2) needs root")
	}
}

// startDaemon mounts a volume, which it makes if need be, at a new directory.
func startDaemon(t testing.TB, volume string) *daemon {
	t.Helper()
	needFUSE(t)
	d := &daemon{t: t, volume: volume, dir: filepath.Join(t.TempDir(), "mnt"), ended: make(chan error, 1)}
	must.Do(t, os.Mkdir(d.dir, 0o755))
	d.start()
	t.Cleanup(d.stop)
	return d
}

// start starts the process, and returns when the volume is mounted.
func (d *daemon) start() {
	d.t.Helper()
	must.Do(d.t, d.tryStart())
}

// tryStart is start, and returns an error if the process does not mount.
func (d *daemon) tryStart() error {
	d.t.Helper()
	d.cmd = exec.Command(os.Args[0], d.volume, d.dir)
	d.cmd.Env = append(os.Environ(), daemonVariable+"=1")
	d.cmd.Stderr = &d.said
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := d.cmd.StdoutPipe()
	must.Do(d.t, err)
	must.Do(d.t, d.cmd.Start())
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "mounted" {
		_ = d.cmd.Wait()
		d.cmd = nil
		return fmt.Errorf("the daemon did not mount: %q, %w", line, err)
	}
	d.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan error) {
		d.stats, _ = r.ReadString('\n')
		ended <- cmd.Wait()
	}(d.cmd, d.ended)
	return nil
}

// stop unmounts, whatever state the daemon is in.
func (d *daemon) stop() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-d.ended:
		if err != nil {
			d.t.Errorf("the daemon ended with %v", err)
			_ = unix.Unmount(d.dir, unix.MNT_DETACH)
		}
	case <-time.After(10 * time.Second):
		d.t.Errorf("the daemon did not unmount")
		d.kill()
	}
	d.cmd = nil
}

// crash ends the daemon, and leaves the mount.
func (d *daemon) crash() {
	_ = d.cmd.Process.Kill()
	select {
	case <-d.ended:
	case <-time.After(5 * time.Second):
	}
	d.cmd = nil
}

// kill ends the daemon as a crash does, and removes what is left of the mount.
func (d *daemon) kill() {
	d.crash()
	if err := unix.Unmount(d.dir, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		d.t.Error(err)
	}
}

// path returns the path of a file in the mount.
func (d *daemon) path(name string) string { return filepath.Join(d.dir, name) }

// alive fails the test if the daemon has ended.
func (d *daemon) alive() {
	d.t.Helper()
	select {
	case err := <-d.ended:
		d.ended <- err
		d.t.Fatalf("the daemon has ended: %v", err)
	default:
	}
}

// within fails the test, and ends the daemon, if fn takes longer than that: a program that waits
// for the kernel cannot be interrupted otherwise.
func (d *daemon) within(limit time.Duration, what string, fn func()) {
	d.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		d.kill()
		d.t.Fatalf("%s took longer than %v", what, limit)
	}
}

// run runs a program, and returns what it says.
func (d *daemon) run(limit time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// eventually waits until the kernel shows what a test expects of a mount. The kernel reports no
// event for that: a program can only look again.
func eventually(t testing.TB, what string, seen func() bool) {
	t.Helper()
	for start := time.Now(); !seen(); time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// newVolume returns the path of a volume that is to be made.
func newVolume(t testing.TB) string { return filepath.Join(t.TempDir(), "v.folio") }

// checkVolume checks a volume that is not mounted any more.
func checkVolume(t testing.TB, path string) {
	t.Helper()
	vol, err := openVolume(path)
	must.Do(t, err)
	defer vol.Close()
	report, err := vol.Check(context.Background(), nil)
	must.Do(t, err)
	for _, p := range report.Problems {
		t.Errorf("%v", p)
	}
}

func readAll(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A mountSide is a directory in which the cases of a mountBench do their work, on one file system.
type mountSide struct {
	name     string
	peer     bool // of another project: if it fails, it is left out
	readOnly bool
	slow     bool // it takes minutes to fill by its mount
	volatile bool // it loses everything when it is unmounted
	stays    bool // the mount stays when a signal ends the daemon; the daemon ends when it is unmounted
	// serve makes everything ready, and returns the command that mounts dir and serves it. It is
	// nil for a plain directory.
	serve func(b *testing.B, s *mountSide) ([]string, error)
	fill  func(b *testing.B, dir string) error // puts the content there that the cases need

	home    string // a directory on the disk, for everything of this side
	dir     string // where the work is done
	full    bool   // fill has been called
	missing string // why it cannot take part

	command []string
	daemon  *exec.Cmd // nil if nothing is mounted
	ended   chan error
}

// mountSides returns all sides. They are started one by one.
func mountSides(fill func(b *testing.B, dir string) error) []*mountSide {
	return []*mountSide{
		{name: "files", fill: fill},
		{name: "btrfs", fill: fill, peer: true},
		{name: "floor", fill: fill, volatile: true, serve: serveFloor},
		{name: "folio", fill: fill, serve: serveFolio},
		{name: "loopback", fill: fill, peer: true, serve: serveLoopback},
		{name: "rclone", fill: fill, peer: true, slow: true, serve: serveRclone},
		{name: "liteboxfs", fill: fill, peer: true, slow: true, stays: true, serve: serveLiteboxFS},
		{name: "squashfuse", fill: fill, peer: true, readOnly: true, serve: serveSquashfuse},
	}
}

func serveFolio(b *testing.B, s *mountSide) ([]string, error) {
	path, err := built(b, "folio", "../../../cmd/folio", ".")
	if err != nil {
		return nil, err
	}
	_, err = command(b, s.home, path, "create", s.volume())
	return []string{path, "mount", s.volume(), s.dir}, err
}

func (s *mountSide) volume() string { return filepath.Join(s.home, "v.folio") }

func serveFloor(_ *testing.B, s *mountSide) ([]string, error) {
	self, err := os.Executable()
	return []string{"env", roleEnv + "=serve-floor", self, s.dir}, err
}

func serveLoopback(b *testing.B, s *mountSide) ([]string, error) {
	path, err := built(b, "loopback", "../../../mount", "github.com/hanwen/go-fuse/v2/example/loopback")
	return []string{path, "-q", "-directmount", "-allow-other", s.dir, s.below()}, err
}

// below is the plain directory that the mount shows.
func (s *mountSide) below() string { return filepath.Join(s.home, "below") }

func serveRclone(b *testing.B, s *mountSide) ([]string, error) {
	program, err := exec.LookPath("rclone")
	if err == nil && s.fill != nil {
		err = s.fill(b, s.below())
		s.full = true
	}
	return []string{
		program, "mount", "--vfs-cache-mode", "writes", "--cache-dir", filepath.Join(s.home, "cache"),
		"--config", filepath.Join(s.home, "rclone.conf"), s.below(), s.dir,
	}, err
}

// serveLiteboxFS serves another file system in a SQLite database, whose program comes by
// "cargo install liteboxfs-cli --features bundled-sqlite".
func serveLiteboxFS(b *testing.B, s *mountSide) ([]string, error) {
	program, err := exec.LookPath("litebox")
	if err != nil {
		return nil, err
	}
	database := filepath.Join(s.home, "litebox.db")
	_, err = command(b, s.home, program, "-f", database, "--wal", "create")
	return []string{program, "-f", database, "--wal", "mount", "-o", "default_permissions", s.dir}, err
}

func serveSquashfuse(b *testing.B, s *mountSide) ([]string, error) {
	program, err := exec.LookPath("squashfuse")
	if err != nil {
		return nil, err
	}
	if s.fill == nil {
		return nil, errors.New("it can only be read")
	}
	if err := s.fill(b, s.below()); err != nil {
		return nil, err
	}
	s.full = true
	image := filepath.Join(s.home, "image")
	_, err = command(b, s.home, "mksquashfs", s.below(), image, "-quiet", "-no-progress")
	return []string{program, "-f", image, s.dir}, err
}

// needMounts skips a benchmark where nothing can be mounted.
func needMounts(b *testing.B) {
	b.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		b.Skipf("nothing can be mounted here: %v", err)
	}
	must(b, f.Close())
	dir := b.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		b.Skipf("nothing can be mounted here: mount: %v", err)
	}
	must(b, syscall.Unmount(dir, 0))
}

// start makes a side ready. It ends with the benchmark, if not before.
func (s *mountSide) start(b *testing.B) {
	b.Helper()
	s.home = b.TempDir()
	if s.name == "btrfs" {
		if s.home = btrfsDir(b); s.home == "" {
			s.missing = "no btrfs directory given: --dirs DIR,DIR"
			return
		}
	}
	b.Cleanup(func() { must(b, s.stop()) })
	if err := s.begin(b); err != nil {
		s.missing = s.failure(err)
	}
	if s.missing != "" && !s.peer {
		b.Fatal(s.missing)
	}
}

func (s *mountSide) begin(b *testing.B) (err error) {
	s.dir = filepath.Join(s.home, "dir")
	if err := errors.Join(os.Mkdir(s.dir, 0o755), os.Mkdir(s.below(), 0o755)); err != nil || s.serve == nil {
		return err
	}
	if s.command, err = s.serve(b, s); err != nil {
		return err
	}
	return s.mount()
}

// failure is an error of the side in one line.
func (s *mountSide) failure(err error) string {
	return fmt.Sprintf("%s failed: %s", s.name, strings.Join(strings.Fields(err.Error()), " "))
}

// btrfsMagic is the type of a btrfs, of statfs(2).
const btrfsMagic = 0x9123683e

// btrfsDir makes a directory on the first btrfs among the further directories. It returns "" if
// there is none.
func btrfsDir(b *testing.B) string {
	b.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("FOLIO_BENCH_DIRS")) {
		var st syscall.Statfs_t
		must(b, syscall.Statfs(dir, &st))
		if st.Type == btrfsMagic {
			home, err := os.MkdirTemp(dir, "bench-*")
			must(b, err)
			b.Cleanup(func() { must(b, os.RemoveAll(home)) })
			return home
		}
	}
	return ""
}

// mountLimit is how long a daemon may take to mount or to unmount.
const mountLimit = 30 * time.Second

// mount starts the daemon, and returns when dir is mounted.
func (s *mountSide) mount() error {
	var said bytes.Buffer
	cmd := exec.Command(s.command[0], s.command[1:]...) // it ends by a signal, after the context of the benchmark
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.daemon, s.ended = cmd, make(chan error, 1)
	go func() { s.ended <- cmd.Wait() }()
	limit := time.After(mountLimit)
	for !s.mounted() {
		select {
		case err := <-s.ended:
			s.daemon = nil
			return fmt.Errorf("the daemon ended: %v: %s", err, &said)
		case <-limit:
			return errors.Join(errors.New("the daemon does not mount"), s.stop())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// mounted reports whether another file system is mounted at dir. A daemon that has been killed
// counts as well.
func (s *mountSide) mounted() bool {
	var here, above syscall.Stat_t
	if err := syscall.Stat(s.dir, &here); err != nil {
		return err == syscall.ENOTCONN
	}
	return syscall.Stat(s.home, &above) == nil && here.Dev != above.Dev
}

// stop unmounts, and returns when the daemon has ended.
func (s *mountSide) stop() error {
	if s.daemon == nil {
		return nil
	}
	var err error
	if s.stays {
		err = syscall.Unmount(s.dir, 0)
	} else {
		_ = s.daemon.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-s.ended:
	case <-time.After(mountLimit):
		err = errors.Join(errors.New("the daemon does not unmount"), s.daemon.Process.Kill())
		<-s.ended
	}
	s.daemon = nil
	if s.mounted() {
		err = errors.Join(err, fmt.Errorf("%s: still mounted", s.name), syscall.Unmount(s.dir, syscall.MNT_DETACH))
	}
	return err
}

// chill empties the system's caches, and those of the daemon. A volatile side keeps its own.
func (s *mountSide) chill(b *testing.B) error {
	emptied(b)
	if s.daemon != nil && !s.volatile {
		if err := s.stop(); err != nil {
			return err
		}
		emptied(b)
		if err := s.mount(); err != nil {
			return err
		}
	}
	for _, tool := range []string{"find", "grep"} { // which are no part of the measured side
		if _, err := command(b, s.home, tool, "--version"); err != nil {
			return err
		}
	}
	return nil
}

// emptied drops the system's caches, but not in a quick run, which may have other processes next to
// it.
func emptied(b *testing.B) {
	b.Helper()
	if !*quick {
		dropCaches(b)
	}
}

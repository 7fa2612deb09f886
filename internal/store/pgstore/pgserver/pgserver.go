//go:build unix

// Package pgserver starts a server of PostgreSQL for the tests of a binary, and for measuring. The
// server listens on a socket in a directory of its own, and ends with the binary. A test is skipped
// if no server is installed, unless the environment variable FOLIO_TEST_POSTGRES is set.
package pgserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// A Server is a server that runs.
type Server struct {
	dir        string // of the socket
	home       string // of everything else
	credential *syscall.SysProcAttr
	options    string
}

// ErrMissing says that no server is installed.
var ErrMissing = errors.New("PostgreSQL is not installed (Debian's package postgresql)")

// program finds a program of the server, which Debian keeps out of the way.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// New makes a server and starts it. Options are settings, such as "fsync=off". The server refuses
// to run as root, and runs as the user postgres or nobody then.
func New(options ...string) (*Server, error) { return NewIn("/tmp", options...) }

// NewIn makes a server whose data lie in a new directory in dir.
func NewIn(dir string, options ...string) (*Server, error) {
	if program("initdb") == "" || program("pg_ctl") == "" {
		return nil, ErrMissing
	}
	socket, err := os.MkdirTemp("/tmp", "pg") // the name of a socket is short
	if err != nil {
		return nil, err
	}
	s := &Server{dir: socket, options: "-c listen_addresses= -k " + socket}
	for _, o := range options {
		s.options += " -c " + o
	}
	if s.home, err = os.MkdirTemp(dir, "pg"); err == nil {
		err = s.own()
	}
	if err == nil {
		err = s.call("initdb", "-D", s.data(), "-U", "folio", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
	}
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.home, "data") }

func (s *Server) remove() {
	_ = os.RemoveAll(s.dir)
	_ = os.RemoveAll(s.home)
}

// own gives the directories to the user that the server runs as.
func (s *Server) own() error {
	s.credential = new(syscall.SysProcAttr)
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	s.credential.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(os.Chown(s.dir, uid, gid), os.Chown(s.home, uid, gid))
}

// call runs a program of the server. Its output goes to a file, as the server keeps it open.
func (s *Server) call(name string, args ...string) error {
	out, err := os.CreateTemp("", "pg")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.Command(program(name), args...)
	cmd.Dir, cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = s.dir, s.credential, out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(text))
	}
	return nil
}

// Start starts a server that was stopped.
func (s *Server) Start() error {
	return s.call("pg_ctl", "-D", s.data(), "-w", "-l", filepath.Join(s.home, "log"), "-o", s.options, "start")
}

// Stop stops the server. The mode is fast, or immediate, as in a crash.
func (s *Server) Stop(mode string) error {
	return s.call("pg_ctl", "-D", s.data(), "-w", "-m", mode, "stop")
}

// Follow lets a server that was stopped start as a standby server, which has no primary.
func (s *Server) Follow() error {
	return os.WriteFile(filepath.Join(s.data(), "standby.signal"), nil, 0o644)
}

// Close stops the server and removes it.
func (s *Server) Close() {
	_ = s.Stop("immediate")
	s.remove()
}

// Address returns the address of a volume on the server.
func (s *Server) Address(volume string) string {
	return "postgres://folio@/postgres?host=" + s.dir + "&volume=" + volume
}

// Socket returns the directory of the socket.
func (s *Server) Socket() string { return s.dir }

// The server that the tests of a binary share.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	last   atomic.Int64 // volume
}

// Require is the environment variable that makes a server that is missing an error.
const Require = "FOLIO_TEST_POSTGRES"

// Shared returns the server of the binary, which the first test starts. Main ends it. The server
// syncs nothing.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = New(quick...) })
	skip(t, shared.err)
	return shared.server
}

// quick are the settings of a server that syncs nothing.
var quick = []string{"fsync=off", "full_page_writes=off", "max_connections=600", "shared_buffers=64MB", "autovacuum_naptime=5s"}

// ForTest returns a server that syncs nothing and ends with the test.
func ForTest(t testing.TB) *Server {
	t.Helper()
	s, err := New(quick...)
	skip(t, err)
	t.Cleanup(s.Close)
	return s
}

// skip skips a test if no server is installed.
func skip(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, ErrMissing) && os.Getenv(Require) == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

// Volume returns the address of a volume that no other test uses.
func Volume(t testing.TB) string {
	t.Helper()
	return Shared(t).Address("test_" + strconv.FormatInt(shared.last.Add(1), 10))
}

// Main runs the tests of a binary, calls functions that end other servers, and ends the server.
func Main(m *testing.M, ends ...func()) {
	code := m.Run()
	for _, end := range ends {
		end()
	}
	if shared.server != nil {
		shared.server.Close()
	}
	os.Exit(code)
}

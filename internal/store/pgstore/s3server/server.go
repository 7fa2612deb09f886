//go:build unix

// Package s3server starts a server of S3 for the tests of a binary, and for measuring: versitygw,
// which the module tools pins, over a directory. The server listens on a loopback address, and
// ends with the binary. A test is skipped if the server cannot be built, unless the environment
// variable FOLIO_TEST_S3 is set.
package s3server

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Server is a server that runs.
type Server struct {
	dir  string
	host string
	cmd  *exec.Cmd
}

// Require is the environment variable that makes a server that cannot be built an error.
const Require = "FOLIO_TEST_S3"

// ErrMissing says that the server cannot be built.
var ErrMissing = errors.New("the S3 server cannot be built (go -C tools tool -n versitygw)")

const (
	accessKey = "folio"
	secretKey = "folio-secret"
)

// program builds the server, or finds it in the cache of the go command.
func program() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/foliofs/folio").Output()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMissing, err)
	}
	cmd := exec.Command("go", "-C", filepath.Join(strings.TrimSpace(string(root)), "tools"), "tool", "-n", "versitygw")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	path, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return strings.TrimSpace(string(path)), nil
}

// New starts a server, and sets the environment variables of its credentials.
func New() (*Server, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "s3")
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	for range 3 {
		var s *Server
		if s, err = start(path, dir); err == nil {
			return s, nil
		}
	}
	_ = os.RemoveAll(dir)
	return nil, err
}

// start starts a server on a port that is free at the moment.
func start(path, dir string) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, host: l.Addr().String()}
	_ = l.Close()
	var said bytes.Buffer
	s.cmd = exec.Command(path, "--port", s.host, "--access", accessKey, "--secret", secretKey, "--keep-alive", "--quiet", "posix", dir)
	s.cmd.Stdout, s.cmd.Stderr = &said, &said
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 500 {
		if c, err := net.Dial("tcp", s.host); err == nil {
			_ = c.Close()
			return s, nil
		}
		<-time.After(20 * time.Millisecond)
	}
	s.kill()
	return nil, fmt.Errorf("the S3 server does not answer: %s", bytes.TrimSpace(said.Bytes()))
}

func (s *Server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// Close ends the server and removes its directory.
func (s *Server) Close() {
	s.kill()
	_ = os.RemoveAll(s.dir)
}

// Host returns the address at which the server listens.
func (s *Server) Host() string { return s.host }

// Endpoint returns the URL of the server.
func (s *Server) Endpoint() string { return "http://" + s.host }

// Dir returns the directory in which the server keeps the objects of a bucket, as files.
func (s *Server) Dir(bucket string) string { return filepath.Join(s.dir, bucket) }

// Objects returns the files in which the server keeps the objects of a volume in a bucket.
func (s *Server) Objects(bucket string) []string {
	list, _ := filepath.Glob(filepath.Join(s.Dir(bucket), "objects", "??", strings.Repeat("[0-9a-f]", 32)))
	return list
}

// NewBucket makes a bucket.
func (s *Server) NewBucket(name string) error { return os.Mkdir(s.Dir(name), 0o755) }

// Address returns the address of a bucket.
func (s *Server) Address(bucket string) string {
	return "s3://" + bucket + "?endpoint=" + s.Endpoint()
}

// The server that the tests of a binary share.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	last   atomic.Int64 // bucket
}

// Shared returns the server of the binary, which the first test starts. Close ends it.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = New() })
	switch {
	case errors.Is(shared.err, ErrMissing) && os.Getenv(Require) == "":
		t.Skip(shared.err)
	case shared.err != nil:
		t.Fatal(shared.err)
	}
	return shared.server
}

// Bucket returns the name of a new bucket on the server of the binary.
func Bucket(t testing.TB) string {
	t.Helper()
	s := Shared(t)
	name := "test-" + strconv.FormatInt(shared.last.Add(1), 10)
	if err := s.NewBucket(name); err != nil {
		t.Fatal(err)
	}
	return name
}

// Close ends the server of the binary, if there is one.
func Close() {
	if shared.server != nil {
		shared.server.Close()
	}
}

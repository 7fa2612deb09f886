//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A servingProcess is folio serve in a process of its own.
type servingProcess struct {
	*exec.Cmd
	address string
	ended   chan struct{}
	err     error // how it ended
	log     lockedBuffer
}

// A lockedBuffer is what a process has written so far.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serveCommand returns the command folio serve, which begins by the words of prefix.
func serveCommand(t *testing.T, prefix []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folio := filepath.Join(t.TempDir(), "folio") // the name makes the test program the command
	if err := os.Symlink(self, folio); err != nil {
		t.Fatal(err)
	}
	words := append(append(prefix, folio, "serve"), args...)
	return exec.Command(words[0], words[1:]...)
}

// startServing starts a command, and waits until it listens. It is ended when the test ends.
func startServing(t *testing.T, cmd *exec.Cmd) *servingProcess {
	t.Helper()
	p := &servingProcess{Cmd: cmd, ended: make(chan struct{})}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	if _, rest, ok := strings.Cut(line, "//"); ok {
		p.address = strings.TrimSuffix(strings.TrimSpace(rest), "/")
	}
	copied := make(chan struct{})
	go func() { _, _ = io.Copy(&p.log, lines); close(copied) }()
	go func() { <-copied; p.err = cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-p.ended
	})
	if p.address == "" {
		t.Fatalf("it does not serve: %q, %v", line, err)
	}
	return p
}

// dial sends the start of a request.
func (p *servingProcess) dial(t *testing.T, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatalf("the server does not listen: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c
}

// largeVolume makes a volume with a file of more bytes than sockets hold.
func largeVolume(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	volume, large := filepath.Join(dir, "v.folio"), filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 64<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "create", volume)
	mustRun(t, "cp", large, volume+":/")
	return volume
}

// TestClientGone lets clients of folio serve go away while they are sent a file. The server goes
// on, as the system's SIGPIPE is not about the output of the command.
func TestClientGone(t *testing.T) {
	t.Parallel()
	p := startServing(t, serveCommand(t, nil, "-q", "--listen", "127.0.0.1:0", largeVolume(t)))
	for range 20 {
		c := p.dial(t, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := c.Read(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mustAnswer(t, bufio.NewReader(p.dial(t, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")), http.StatusOK)
}

// TestServeStops ends a server by a signal in the middle of a download and of uploads. Those that
// go on are completed; one that stands still is cut off, and leaves nothing.
func TestServeStops(t *testing.T) {
	for _, stalled := range []bool{false, true} {
		t.Run(fmt.Sprintf("stalled %v", stalled), func(t *testing.T) {
			if stalled && testing.Short() {
				t.Skip("-short: it waits for 10 s")
			}
			t.Parallel()
			volume := largeVolume(t)
			p := startServing(t, serveCommand(t, nil, "-q", "--write", "--listen", "127.0.0.1:0", volume))
			half := strings.Repeat("x", 500_000)
			download := p.dial(t, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
			upload := p.dial(t, "PUT /new HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"+half)
			idle := p.dial(t, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
			answers := bufio.NewReader(idle)
			mustAnswer(t, answers, 200)
			reader := bufio.NewReader(download)
			resp, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.CopyN(io.Discard, resp.Body, 1000); err != nil {
				t.Fatal(err)
			}
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if _, err := answers.ReadByte(); err != io.EOF { // so it has begun to end
				t.Errorf("an idle connection: %v", err)
			}
			if c, err := net.Dial("tcp", p.address); err == nil {
				_ = c.Close()
				t.Error("it takes new connections")
			}
			if stalled {
				<-p.ended
			} else {
				if n, err := io.Copy(io.Discard, resp.Body); n != 64<<20-1000 || err != nil {
					t.Errorf("the download: %d bytes, %v", n, err)
				}
				if _, err := io.WriteString(upload, half); err != nil {
					t.Fatal(err)
				}
				mustAnswer(t, bufio.NewReader(upload), 201)
			}
			<-p.ended
			if p.err != nil || p.log.String() != "" {
				t.Errorf("%v, %q", p.err, &p.log)
			}
			want := "large\nnew\n"
			if stalled {
				want = "large\n"
			}
			if out := strings.TrimPrefix(mustRun(t, "ls", volume), ".folio-serve\n"); out != want {
				t.Errorf("ls: %q", out)
			}
			if out := mustRun(t, "check", volume); !strings.Contains(out, ": ok") {
				t.Error(out)
			}
		})
	}
}

func mustAnswer(t *testing.T, r *bufio.Reader, status int) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != status {
		t.Fatalf("%s, %v", resp.Status, err)
	}
}

// TestServeSocket passes sockets on to a server as systemd does: their number and the process they
// are for are in variables.
func TestServeSocket(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	volume := filepath.Join(t.TempDir(), "v.folio")
	mustRun(t, "create", volume)
	listener := func() (*net.TCPListener, *os.File) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close(); _ = f.Close() })
		return l.(*net.TCPListener), f
	}
	command := func(pid string, fds int, files ...*os.File) *exec.Cmd {
		cmd := serveCommand(t, []string{"sh", "-c", "LISTEN_PID=" + pid + " LISTEN_FDS=" + strconv.Itoa(fds) + ` exec "$0" "$@"`}, "-q", "--listen", "127.0.0.1:0", volume)
		cmd.ExtraFiles = files
		return cmd
	}
	l, f := listener()
	p := startServing(t, command("$$", 1, f))
	if p.address != l.Addr().String() {
		t.Errorf("it serves %s, and was given %s", p.address, l.Addr())
	}
	mustAnswer(t, bufio.NewReader(p.dial(t, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")), 200)
	if p = startServing(t, command("1", 1, f)); p.address == l.Addr().String() { // for another process
		t.Errorf("it serves %s, which was not for it", p.address)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	_, f2 := listener()
	for _, cmd := range []*exec.Cmd{command("$$", 2, f, f2), command("$$", 1, null), command("$$", 1)} {
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "folio: ") || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%q: %v, %s", cmd.Args, err, out)
		} else {
			t.Logf("%s", out)
		}
	}
}

// A volume that is missing is named before a port that is taken. For the port there is a way out.
func TestServeTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken, volume := l.Addr().String(), filepath.Join(t.TempDir(), "v.folio")
	mustRun(t, "create", volume)
	for name, want := range map[string]string{
		volume:       "bind: address already in use; --listen names another address, such as :8081\n",
		"nope.folio": "folio: nope.folio: no such file or directory\n",
	} {
		code, _, stderr := runFolio(t, "serve", "--listen", taken, name)
		if code != exitFailure || !strings.HasSuffix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, want %q", name, code, stderr, want)
		}
	}
}

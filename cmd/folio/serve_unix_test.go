//go:build unix

package main

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestClientGone lets clients of folio serve go away while they are sent a file. The server goes
// on, as the system's SIGPIPE is not about the output of the command.
func TestClientGone(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	volume, large := filepath.Join(dir, "v.folio"), filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 64<<20), 0o600); err != nil { // more than sockets hold
		t.Fatal(err)
	}
	mustRun(t, "create", volume)
	mustRun(t, "cp", large, volume+":/")
	cmd := &exec.Cmd{Path: self, Args: []string{"folio", "serve", "-q", "--listen", "127.0.0.1:0", volume}}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- cmd.Wait() }()
	address := strings.TrimSuffix(strings.TrimSpace(line[strings.Index(line, "//")+2:]), "/")
	for range 20 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("the server does not listen any more: %v", err)
		}
		if _, err := c.Write([]byte("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
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
	select {
	case err := <-ended:
		t.Errorf("the server has ended: %v", err)
		ended <- nil
	case <-time.After(100 * time.Millisecond):
	}
}

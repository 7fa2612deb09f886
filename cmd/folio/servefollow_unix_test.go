//go:build unix

package main

import (
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServeHangup sends SIGHUP to a server: it reads its files again, and goes on. A server without
// such files ends.
func TestServeHangup(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("started with nohup")
	}
	dir := t.TempDir()
	volume, rights, users := filepath.Join(dir, "v.folio"), filepath.Join(dir, "rights"), filepath.Join(dir, "users")
	mustRun(t, "create", volume)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(users, "robot:sha256:"+strings.Repeat("00", 32)+"\n")
	write(rights, "- read /\n")
	p := startServing(t, serveCommand(t, nil, "-q", "--users", users, "--rights", rights, "--listen", "127.0.0.1:0", volume))
	says := func(text string) {
		t.Helper()
		waitFor(t, "the log says "+text, func() bool { return strings.Contains(p.log.String(), text) })
	}
	status := func() int {
		t.Helper()
		resp, err := http.Get("http://" + p.address + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if code := status(); code != 200 {
		t.Fatal(code)
	}
	write(rights, "- none /\ngoofy read /\n")
	_ = p.Process.Signal(syscall.SIGHUP)
	says("were read again")
	says("users=goofy")
	if code := status(); code != 401 {
		t.Errorf("%d with the new rights", code)
	}
	write(rights, "- all /\n")
	_ = p.Process.Signal(syscall.SIGHUP)
	says(rights)
	if code := status(); code != 401 {
		t.Errorf("%d with rights that cannot be read", code)
	}
	plain := startServing(t, serveCommand(t, nil, "-q", "--listen", "127.0.0.1:0", volume))
	_ = plain.Process.Signal(syscall.SIGHUP)
	<-plain.ended
}

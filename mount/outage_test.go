//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/pgstore/pgproxy"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
)

// TestOutage cuts the network to the server of a mounted volume. All requests fail in time with
// ETIMEDOUT, and nothing hangs; the mount goes on by itself, open files among it.
func TestOutage(t *testing.T) {
	needFUSE(t)
	proxy, through, err := pgproxy.New(pgserver.Volume(t), 0)
	must.Do(t, err)
	t.Cleanup(proxy.Close)
	d := startDaemon(t, through)
	must.Do(t, os.Mkdir(d.path("dir"), 0o755))
	must.Do(t, os.WriteFile(d.path("dir/file"), []byte("content"), 0o644))
	open, err := os.OpenFile(d.path("dir/file"), os.O_RDWR, 0)
	must.Do(t, err)
	defer open.Close()
	requests := map[string]func() error{
		"stat":  func() error { _, err := os.Stat(d.path("dir/file")); return err },
		"read":  func() error { _, err := os.ReadFile(d.path("dir/file")); return err },
		"list":  func() error { _, err := os.ReadDir(d.path("dir")); return err },
		"write": func() error { return os.WriteFile(d.path("dir/file"), []byte("changed"), 0o644) },
		"make":  func() error { return os.Mkdir(d.path("dir/new"), 0o755) },
		"move":  func() error { return os.Rename(d.path("dir/file"), d.path("dir/moved")) },
		"space": func() error { return syscall.Statfs(d.path("dir"), new(syscall.Statfs_t)) },
		"sync":  func() error { _, err := open.WriteAt([]byte("c"), 0); return errors.Join(err, open.Sync()) },
	}
	for outage := range 2 {
		proxy.Cut()
		first := failAll(t, requests)
		if again := failAll(t, requests); again > first/2 {
			t.Errorf("requests failed after %v, and further ones after %v: want them to wait no more", first, again)
		}
		proxy.Restore()
		for begun := time.Now(); requests["stat"]() != nil; <-time.After(10 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal("the mount does not go on")
			}
		}
		must.Do(t, requests["sync"]())
		must.Do(t, os.WriteFile(d.path("dir/file"), []byte("content"), 0o644))
		if b, err := os.ReadFile(d.path("dir/file")); err != nil || string(b) != "content" {
			t.Errorf("%q, %v", b, err)
		}
		if n := strings.Count(d.said.String(), "cannot be reached"); n != outage+1 {
			t.Errorf("%d lines in the log about %d outages: %s", n, outage+1, d.said.String())
		}
	}
}

// failAll makes all requests at once, wants each to fail with ETIMEDOUT, and returns how long that
// took.
func failAll(t *testing.T, requests map[string]func() error) time.Duration {
	t.Helper()
	problems := make(chan string, len(requests))
	begun := time.Now()
	for name, do := range requests {
		go func() {
			problem := ""
			if err := do(); !errors.Is(err, syscall.ETIMEDOUT) {
				problem = fmt.Sprintf("%s: %v, want ETIMEDOUT", name, err)
			}
			problems <- problem
		}()
	}
	for range requests {
		select {
		case problem := <-problems:
			if problem != "" {
				t.Error(problem)
			}
		case <-time.After(time.Minute):
			t.Fatal("a request hangs")
		}
	}
	return time.Since(begun)
}

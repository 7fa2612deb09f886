//go:build linux

package runner

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/result"
)

// Time in which a process is stopped is not held against it.
func TestPatience(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "fake", "deaf")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	pid := cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for s, ok := observe(pid); !s.stopped; s, ok = observe(pid) {
		if !ok {
			t.Fatal("the system tells nothing")
		}
	}
	after := func(pid int, timeout time.Duration) <-chan struct{} {
		over := make(chan struct{})
		end := watch(pid, timeout, func() { close(over) })
		t.Cleanup(func() { end() })
		return over
	}
	over := after(pid, 10*time.Millisecond)
	<-after(os.Getpid(), 200*time.Millisecond)
	select {
	case <-over:
		t.Error("the time of a stopped process is over")
	default:
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	<-over
}

// The failure of a hang describes the state of the process.
func TestHangSays(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(t.Context(), 20*time.Millisecond, exe, "fake", "deaf")
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.reply()
	if err = p.end(err); kindOf(err) != result.FailureHang || !strings.Contains(err.Error(), "no reply within 20ms; it has used ") {
		t.Errorf("%v, want a hang that says how much it worked", err)
	}
}

//go:build linux || darwin

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A real signal to a real process that is in the middle of an import.
func TestSignal(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		var stderr strings.Builder
		cmd := &exec.Cmd{Path: self, Args: []string{"folio", "import", "-", filepath.Join(dir, "v.folio")}, Stderr: &stderr}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write(make([]byte, 512)); err != nil { // an archive that goes on later
			t.Fatal(err)
		}
		waitForFile(t, dir)
		_ = cmd.Process.Signal(s)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(s) || stderr.String() != "folio: interrupted\n" {
			t.Errorf("%v: exit code %d, %q", s, code, stderr.String())
		}
		wantNames(t, dir)
	}
}

// waitForFile waits until a directory is not empty.
func waitForFile(t *testing.T, dir string) {
	t.Helper()
	for {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 {
			return
		}
		runtime.Gosched()
	}
}

// A signal ends an import from a named pipe that nobody writes to.
func TestSignalPipe(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir, pipe := t.TempDir(), filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd := &exec.Cmd{Path: self, Args: []string{"folio", "import", pipe, filepath.Join(dir, "v.folio")}, Stderr: &stderr}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForFile(t, dir)
		_ = cmd.Process.Signal(s)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(s) || stderr.String() != "folio: interrupted\n" {
			t.Errorf("%v: exit code %d, %q", s, code, stderr.String())
		}
		wantNames(t, dir)
	}
}

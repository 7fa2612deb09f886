//go:build linux || darwin

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
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
	for _, s := range signals() {
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
		waitForNames(t, dir, func(names []string) bool { return len(names) > 0 })
		_ = cmd.Process.Signal(s)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(s) || stderr.String() != "folio: interrupted\n" {
			t.Errorf("%v: exit code %d, %q", s, code, stderr.String())
		}
		wantNames(t, dir)
	}
}

// signals are those that end the command. That of a terminal that goes is not one where this test
// was started with nohup.
func signals() []syscall.Signal {
	all := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	return slices.DeleteFunc(all, func(s syscall.Signal) bool { return signal.Ignored(s) })
}

// A signal ends an import from a named pipe that nobody writes to.
func TestSignalPipe(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range signals() {
		dir, pipe := t.TempDir(), filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd := &exec.Cmd{Path: self, Args: []string{"folio", "import", pipe, filepath.Join(dir, "v.folio")}, Stderr: &stderr}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForNames(t, dir, func(names []string) bool { return len(names) > 0 })
		_ = cmd.Process.Signal(s)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(s) || stderr.String() != "folio: interrupted\n" {
			t.Errorf("%v: exit code %d, %q", s, code, stderr.String())
		}
		wantNames(t, dir)
	}
}

// TestKilledImportIsSwept kills an import. The next import removes the temporary file of the killed
// one, and leaves that of an import that still runs.
func TestKilledImportIsSwept(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	begin := func(volume string) *exec.Cmd {
		cmd := &exec.Cmd{Path: self, Args: []string{"folio", "import", "-", filepath.Join(dir, volume)}}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write(make([]byte, 512)); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	killed := begin("killed.folio")
	left := waitForNames(t, dir, func(names []string) bool { return len(names) == 1 })
	_ = killed.Process.Kill()
	_ = killed.Wait()
	living := begin("living.folio")
	waitForNames(t, dir, func(names []string) bool { return len(names) == 1 && names[0] != left[0] })
	src := t.TempDir()
	mustRun(t, "import", src, filepath.Join(dir, "v.folio"))
	// The volume, and the temporary file of the living import, which may have made it again.
	waitForNames(t, dir, func(names []string) bool { return len(names) == 2 })
	_ = living.Process.Signal(syscall.SIGTERM)
	_ = living.Wait()
	wantNames(t, dir, "v.folio")
}

// waitForNames waits until the names of the files in a directory are good, and returns them.
func waitForNames(t *testing.T, dir string, good func(names []string) bool) (names []string) {
	t.Helper()
	for !good(names) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		names = names[:0]
		for _, d := range list {
			names = append(names, d.Name())
		}
		runtime.Gosched()
	}
	return names
}

// pipeWithoutReader returns the end of a pipe that is written to. No process has the other end: no
// process may be forked while it is open, because the child of a fork has all files until it runs a
// program.
func pipeWithoutReader(t *testing.T) *os.File {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	r, w, err := os.Pipe()
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The reader of a command's output goes away: the command ends without a word, as one does that
// SIGPIPE kills, and a volume that it was writing is whole.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	src, volume := filepath.Join(dir, "src"), filepath.Join(dir, "v.folio")
	for i := range 200 {
		sub := filepath.Join(src, strings.Repeat("long", 50), strings.Repeat("d", i+1))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(src, "large"), make([]byte, 1<<20), 0o600); err != nil { // more than a pipe holds
		t.Fatal(err)
	}
	mustRun(t, "import", src, volume)
	for _, args := range [][]string{{"ls", "-R", volume}, {"sync", "-v", "--create", src, filepath.Join(dir, "new.folio")}, {"backup", volume, "-"}} {
		w := pipeWithoutReader(t)
		var stderr strings.Builder
		cmd := &exec.Cmd{Path: self, Args: append([]string{"folio"}, args...), Stdout: w, Stderr: &stderr}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		_ = cmd.Wait()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if status.Signal() != syscall.SIGPIPE && status.ExitStatus() != 128+int(syscall.SIGPIPE) || stderr.Len() > 0 {
			t.Errorf("%s: %v, %q", args[0], cmd.ProcessState, stderr.String())
		}
	}
	mustRun(t, "check", volume)
	if list, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}

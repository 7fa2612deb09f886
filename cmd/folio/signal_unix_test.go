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
		waitForFile(t, dir)
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
		waitForFile(t, dir)
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
	waitForFiles(t, dir, 1)
	_ = killed.Process.Kill()
	_ = killed.Wait()
	living := begin("living.folio")
	waitForFiles(t, dir, 1)
	src := t.TempDir()
	mustRun(t, "import", src, filepath.Join(dir, "v.folio"))
	waitForFiles(t, dir, 2) // the volume, and what the living one writes
	_ = living.Process.Signal(syscall.SIGTERM)
	_ = living.Wait()
	wantNames(t, dir, "v.folio")
}

// waitForFiles waits until a directory holds n files.
func waitForFiles(t *testing.T, dir string, n int) {
	t.Helper()
	for {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == n {
			return
		}
		runtime.Gosched()
	}
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
	mustRun(t, "import", src, volume)
	for _, args := range [][]string{{"ls", "-R", volume}, {"sync", "-v", "--create", src, filepath.Join(dir, "new.folio")}, {"backup", volume, "-"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd := &exec.Cmd{Path: self, Args: append([]string{"folio"}, args...), Stdout: w, Stderr: &stderr}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = r.Close(), w.Close()
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

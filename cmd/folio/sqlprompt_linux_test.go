package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The prompt of folio sql on a terminal: Ctrl-C ends a line or a statement and not the shell, Tab
// completes, an error does not end it, and Ctrl-D does.
func TestSQLPrompt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.folio")
	mustRun(t, "create", path)
	user, cmd := startOnTerminal(t, "sql", path)
	for _, step := range []struct {
		keys, want  string
		inStatement bool
	}{
		{"", "folio> ", false},
		{"SELECT count(*) FROM nod\t;\r", " 1\r\nfolio> ", false},
		{"SELECT nope", "nope", false},
		{"\x03", "^C\r\nfolio> ", false},
		{"SELECT nope;\r", "no such column: nope\r\nfolio> ", false},
		{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL\r", "  ...> ", false},
		{"SELECT i + 1 FROM n) SELECT count(*) FROM n;\r", "\r\n", false},
		{"\x03", "interrupted\r\nfolio> ", true},
		{"SELECT 6 * 7;\r", "42\r\nfolio> ", false},
		{"\x04", "", false},
	} {
		for begun := time.Now(); step.inStatement && !echoes(t, user) && time.Since(begun) < time.Minute; {
			runtime.Gosched() // until Ctrl-C is a signal again
		}
		if _, err := user.WriteString(step.keys); err != nil {
			t.Fatal(err)
		}
		waitForOutput(t, user, step.want)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestSQLPromptKilled ends the shell by a signal at its prompt: the terminal gets back the mode in
// which it echoes.
func TestSQLPromptKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v.folio")
	mustRun(t, "create", path)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		user, cmd := startOnTerminal(t, "sql", path)
		waitForOutput(t, user, "folio> ")
		if echoes(t, user) {
			t.Error("the prompt does not read keys")
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(signal) {
			t.Errorf("%v ends it with %v", signal, cmd.ProcessState)
		}
		if !echoes(t, user) {
			t.Errorf("after %v the terminal does not echo", signal)
		}
	}
}

// echoes reports whether a terminal shows the keys that its user presses.
func echoes(t *testing.T, user *os.File) bool {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(user.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return mode.Lflag&unix.ECHO != 0
}

// startOnTerminal starts the command with a terminal of its own, and returns the end of its user.
func startOnTerminal(t *testing.T, args ...string) (user *os.File, cmd *exec.Cmd) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudoterminals:", err)
	}
	t.Cleanup(func() { user.Close() })
	fd := int(user.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil || unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0) != nil {
		t.Skip("no pseudoterminals:", err)
	}
	tty, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = &exec.Cmd{Path: self, Args: append([]string{"folio"}, args...), Stdin: tty, Stdout: tty, Stderr: tty, Env: append(os.Environ(), "TERM=xterm")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return user, cmd
}

// waitForOutput reads from a terminal until a text is there.
func waitForOutput(t *testing.T, user *os.File, want string) {
	t.Helper()
	var got []byte
	buf := make([]byte, 4096)
	for limit := time.Now().Add(time.Minute); want != "" && !bytes.HasSuffix(got, []byte(want)); {
		ready := []unix.PollFd{{Fd: int32(user.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 60_000); n == 0 || err != nil && err != unix.EINTR || time.Now().After(limit) {
			t.Fatalf("got %q, want %q at its end", got, want)
		}
		n, err := user.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q, want %q", err, got, want)
		}
		got = append(got, buf[:n]...)
	}
}

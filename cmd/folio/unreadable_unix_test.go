//go:build linux || darwin

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What a user may not read is named and left out, and the rest is imported.
func TestImportUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := strings.Repeat("x", 2<<20)
	for name, content := range map[string]string{"a": "a", "closed": "x", "large": large, "sub/file": "x", "dir/in it": "x", "z": "z"} {
		path := filepath.Join(dir, "src", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	src := filepath.Join(dir, "src")
	err := errors.Join(os.Link(filepath.Join(src, "closed"), filepath.Join(src, "other name")),
		os.Chmod(filepath.Join(src, "closed"), 0), os.Chmod(filepath.Join(src, "large"), 0), os.Chmod(filepath.Join(src, "dir"), 0),
		os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(src, "dir"), 0o700)
	volume := filepath.Join(dir, "v.folio")
	cmd := asNobody(t, dir, "import", src, volume)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitPartial || !strings.Contains(stdout.String(), "; 4 files could not be read") {
		t.Errorf("exit code %d, %s", code, stdout.String())
	}
	for _, name := range []string{"closed", "large", "dir", "other name"} {
		want := "folio: warning: " + filepath.Join(src, name) + ": permission denied; left out\n"
		if strings.Count(stderr.String(), want) != 1 {
			t.Errorf("not once %q in %q", want, stderr.String())
		}
	}
	if strings.Count(stderr.String(), "\n") != 4 {
		t.Errorf("%q", stderr.String())
	}
	if got := mustRun(t, "ls", "-R", volume); got != "v.folio:\na\ndir\nsub\nz\n" && !strings.Contains(got, "a\ndir\nsub\nz\n") {
		t.Errorf("%q", got)
	}
	if got := mustRun(t, "check", volume); !strings.Contains(got, ": ok: ") {
		t.Error(got)
	}
}

// asNobody returns a command that a user without rights runs: this one, unless it is root.
func asNobody(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return &exec.Cmd{Path: self, Args: append([]string{"folio"}, args...)}
	}
	program := filepath.Join(dir, "folio")
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(program, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{
		Path: program, Args: append([]string{"folio"}, args...), Dir: dir, Env: []string{"HOME=" + dir, "TMPDIR=" + dir},
		SysProcAttr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}},
	}
}

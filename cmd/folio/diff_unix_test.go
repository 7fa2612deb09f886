//go:build linux || darwin

package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDiffUnreadable compares a tree that a user may not read in full: what cannot be read is
// named, the rest is compared, and the exit code is 2.
func TestDiffUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src, volume := filepath.Join(dir, "src"), filepath.Join(dir, "v.folio")
	for _, name := range []string{"a", "closed", "dir/in it", "locked", "z"} {
		path := filepath.Join(src, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("12345"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "import", src, volume)
	putText(t, volume+":locked", "another size")
	putText(t, volume+":z", "54321")
	err := errors.Join(os.Chmod(filepath.Join(src, "closed"), 0), os.Chmod(filepath.Join(src, "locked"), 0),
		os.Chmod(filepath.Join(src, "dir"), 0), os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(volume, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(src, "dir"), 0o700)
	for _, form := range []string{"--attributes=none", "--patch"} {
		cmd := asNobody(t, dir, "diff", "--attributes=none", form, src, volume)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitTrouble || !strings.Contains(stdout.String(), "z") {
			t.Errorf("%s: exit code %d, %q", form, code, stdout.String())
		}
		for _, name := range []string{"closed", "dir"} {
			want := "folio: warning: " + filepath.Join(src, name) + ": permission denied; not compared\n"
			if strings.Count(stderr.String(), want) != 1 {
				t.Errorf("%s: not once %q in %q", form, want, stderr.String())
			}
		}
	}
}

// TestDiffSpecial compares fifos, sockets and, for root, devices, which are not opened.
func TestDiffSpecial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, tree := range []string{a, b} {
		if err := errors.Join(os.Mkdir(tree, 0o700), syscall.Mkfifo(filepath.Join(tree, "fifo"), 0o600)); err != nil {
			t.Skip("no fifos here:", err)
		}
	}
	mustRun(t, "diff", a, b)
	if err := os.WriteFile(filepath.Join(a, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(b, "other"))
	if err != nil {
		t.Skip("no sockets here:", err)
	}
	defer l.Close()
	for form, want := range map[string]string{
		"-r": "T\tother\n",
		"-p": "# T\tother\ndiff --git a/other b/other\ndeleted file mode 100644\nindex e69de29..0000000\n",
	} {
		if code, stdout, stderr := runFolio(t, "diff", form, a, b); code != exitFailure || stdout != want || stderr != "" {
			t.Errorf("%s: exit code %d, %q, %q", form, code, stdout, stderr)
		}
	}
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// TestMemory mounts a volume in memory, which only this process can change: also by the library,
// while other programs use the mount.
func TestMemory(t *testing.T) {
	needFUSE(t)
	vol, err := folio.OpenMemory(nil)
	must.Do(t, err)
	defer vol.Close()
	dir := t.TempDir()
	uid := uint32(1234)
	s, err := Mount(vol, dir, &Options{UID: &uid, Umask: 0o077})
	must.Do(t, err)
	defer func() { must.Do(t, s.Unmount()) }()
	run := func(script string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		cmd.Dir = "/"
		cmd.Env = append(cmd.Environ(), "D="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", script, err)
		}
		return string(out)
	}
	run("mkdir $D/dir; echo one > $D/dir/file; cat $D/other || true")
	if got := run("stat -c '%u %g %a' $D/dir/file"); got != "1234 0 600\n" {
		t.Errorf("the owner and mode are %q", got)
	}
	got, err := vol.ReadFile("dir/file")
	must.Do(t, err)
	if string(got) != "one\n" {
		t.Errorf("the library reads %q", got)
	}
	must.Do(t, vol.WriteFile("dir/file", []byte("two"), 0o644))
	must.Do(t, vol.WriteFile("other", []byte("three"), 0o644))
	eventually(t, "the mount shows the changes of the library", func() bool { return run("cat $D/dir/file $D/other || true") == "twothree" })
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"os/exec"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio/internal/must"
)

// TestFS mounts a file system that is no volume.
func TestFS(t *testing.T) {
	needFUSE(t)
	dir := t.TempDir()
	s, err := MountFS(fstest.MapFS{"a/b/file": {Data: []byte("content")}, "other": {Data: make([]byte, 300_000)}}, dir, nil)
	must.Do(t, err)
	defer func() { must.Do(t, s.Unmount()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "cd $D && find . | sort && cat a/b/file && wc -c < other && ! touch new 2>&1 && ! cat none 2>&1")
	cmd.Env = append(cmd.Environ(), "D="+dir)
	out, err := cmd.CombinedOutput()
	const want = ".\n./a\n./a/b\n./a/b/file\n./other\ncontent300000\ntouch: cannot touch 'new': Read-only file system\ncat: none: No such file or directory\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}

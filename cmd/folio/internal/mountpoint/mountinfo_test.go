package mountpoint

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const text = `22 27 0:21 / /proc rw,relatime - proc proc rw
43 27 0:40 / /mnt/a\040b rw,nosuid,nodev,relatime shared:1 - fuse.folio /v\011:x\134y rw,user_id=7,group_id=0
44 27 0:41 / /mnt/c ro,nosuid - fuse.folio /v rw
`
	got, err := read(strings.NewReader(text))
	want := []Mount{
		{Device: "0:21", Type: "proc", Source: "proc", Dir: "/proc"},
		{Device: "0:40", Type: "fuse.folio", Source: "/v\t:x\\y", Dir: "/mnt/a b", User: "7"},
		{Device: "0:41", Type: "fuse.folio", Source: "/v", Dir: "/mnt/c", ReadOnly: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if m, ok := around(got, "/mnt/c/d/e"); !ok || m.Dir != "/mnt/c" {
		t.Errorf("around: %+v, %t", m, ok)
	}
	for _, line := range []string{"", "a b c - d e f", "22 27 0:21 / /proc rw"} {
		if _, err := read(strings.NewReader(line + "\n")); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}

// TestResolve resolves paths as package filepath does.
func TestResolve(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("mounts are known on Linux")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"absolute": filepath.Join(dir, "a"), "relative": "a/./b", "up": "a/b/../../a", "both": "up/b", "loop": "loop", "gone": "none/x",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"a/b": "a/b", "absolute/b": "a/b", "relative": "a/b", "up/b/..": "a", "both": "a/b", "a/none/x": "a/none/x", "gone/y": "none/x/y",
	} {
		if got, err := Resolve(filepath.Join(dir, name)); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := Resolve(filepath.Join(dir, "loop")); err != nil {
		t.Error(err)
	}
}

package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// TestXattrRefused writes a file out that has an extended attribute which the disk does not take.
func TestXattrRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := make([]byte, 64<<10)
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if unix.Setxattr(probe, "user.small", []byte("1"), 0) != nil || unix.Setxattr(probe, "user.big", big, 0) == nil {
		t.Skip("needs a disk that takes small extended attributes, and no large ones, as ext4")
	}
	volume := filepath.Join(dir, "v.folio")
	vol, err := folio.Open(volume, &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		vol.Mkdir("d", 0o755),
		vol.WriteFile("d/a", []byte("content"), 0o644),
		vol.WriteFile("d/large", make([]byte, 2<<20), 0o644),
		vol.SetXattr("d", "user.big", big),
		vol.SetXattr("d/a", "user.big", big),
		vol.SetXattr("d/a", "user.small", []byte("1")),
		vol.SetXattr("d/large", "user.big", big),
		vol.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"export", "get", "cp"} {
		out := filepath.Join(dir, command)
		args := []string{command, "-q", volume, out}
		if command != "export" {
			args = []string{command, "-aq", volume + ":d", out}
		}
		code, _, stderr := runFolio(t, args...)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		slices.Sort(lines)
		in := filepath.Join(out, "d")
		if command != "export" {
			in = out
		}
		want := []string{refused(in), refused(filepath.Join(in, "a")), refused(filepath.Join(in, "large"))}
		slices.Sort(want)
		if code != exitPartial || !slices.Equal(lines, want) {
			t.Errorf("%s: exit code %d, %q; want %q", command, code, lines, want)
		}
		if got, err := os.ReadFile(filepath.Join(in, "a")); string(got) != "content" {
			t.Errorf("%s: %q, %v", command, got, err)
		}
		if got := diskXattrs(t, filepath.Join(in, "a")); string(got["user.small"]) != "1" {
			t.Errorf("%s: attributes %q", command, got)
		}
	}
	// A second name for a file that is there: the temporary name is in no warning.
	if code, _, stderr := runFolio(t, "export", "-qf", volume, filepath.Join(dir, "export")); code != exitPartial || strings.Contains(stderr, ".tmp") {
		t.Errorf("export --force: exit code %d, %q", code, stderr)
	}
}

func refused(name string) string {
	return "folio: warning: " + name + ": extended attribute user.big: no space left on device; left out"
}

// TestXattrRoundTrip lets extended attributes that root alone can set go into volumes and out
// again, in each way that user.* go.
func TestXattrRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.MkdirAll(filepath.Join(in, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(in, "d", "file")
	if err := os.WriteFile(file, []byte("content"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{
		"user.u": []byte("1"), "trusted.t": []byte("2"),
		"security.capability": {1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, // cap_net_bind_service+ep
	}
	for name, value := range want {
		if err := unix.Setxattr(file, name, value, 0); err != nil {
			t.Skipf("%s: %v", name, err)
		}
	}
	v := func(name string) string { return filepath.Join(dir, name) }
	mustRun(t, "import", "-q", in, v("import.folio"))
	mustRun(t, "create", v("sync.folio"))
	mustRun(t, "sync", "-q", in, v("sync.folio"))
	mustRun(t, "create", v("put.folio"))
	mustRun(t, "put", "-aq", filepath.Join(in, "d"), v("put.folio"))
	mustRun(t, "create", v("cp.folio"))
	mustRun(t, "cp", "-aq", v("import.folio:d"), v("cp.folio:d"))
	mustRun(t, "export", "-q", v("import.folio"), v("a.tar"))
	mustRun(t, "import", "-q", v("a.tar"), v("tar.folio"))
	for _, volume := range []string{"import", "sync", "put", "cp", "tar"} {
		vol, err := folio.Open(v(volume+".folio"), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := vol.Xattrs("d/file")
		if err != nil || !maps.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: %q, %v", volume, got, err)
		}
		if err := vol.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "export", "-q", v("import.folio"), v("export"))
	mustRun(t, "get", "-aq", v("import.folio:d"), v("get"))
	mustRun(t, "cp", "-aq", v("import.folio:d"), v("cp"))
	for _, name := range []string{"export/d/file", "get/file", "cp/file"} {
		if got := diskXattrs(t, v(name)); !maps.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// diskXattrs returns the extended attributes of a file on disk that a volume takes.
func diskXattrs(t *testing.T, name string) map[string][]byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	attrs, err := disk.Xattrs(f)
	if err != nil {
		t.Fatal(err)
	}
	return attrs
}

package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A directory on ext4 reports whether it has a journal, because that changes the cost of files.
func TestJournal(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("an ext4 with a journal, and one without: only root can mount them")
	}
	for _, test := range []struct {
		feature string
		without bool
	}{{"has_journal", false}, {"^has_journal", true}} {
		d := describeDir(ext4(t, test.feature))
		if d.FileSystem != "ext4" || d.NoJournal != test.without || (d.Warning() != "") != test.without {
			t.Errorf("%s: %+v, warning %q", test.feature, d, d.Warning())
		}
	}
}

// ext4 mounts a file system with a feature. Where that cannot be done the test is skipped.
func ext4(t *testing.T, feature string) (dir string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 16<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", "-O", feature, image).CombinedOutput(); err != nil {
		t.Skipf("an ext4 with %s: mkfs.ext4: %v %s", feature, err, out)
	}
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("an ext4 with %s: mount: %v %s", feature, err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

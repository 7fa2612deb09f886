package volumetest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
)

// smallDisk mounts a file system in memory of so many bytes. Without root the test is skipped.
func smallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a small disk: only root can mount one")
	}
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small disk: mount: %v %s", err, out)
	}
	t.Cleanup(func() { must.Do(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// TestFullFaults makes each call on a disk that is full before it, or becomes so in the middle.
func TestFullFaults(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	dir := smallDisk(t, "2m")
	image, calls := newFaultImage(t), faultCalls()
	for i, c := range calls {
		f := &fault{
			name: "no room", spares: true, want: []error{folio.ErrFull}, moment: []int{before, halfWay, atOperation + 1}[i%3],
			happen: func(s *faultScene) { fillUp(s, filepath.Join(dir, "ballast")) },
		}
		if c.scope == inCreate || c.name == "ImportFS" || c.name == "Create" {
			f.want = []error{syscall.ENOSPC} // of a file that is no volume yet
		}
		if c.name == "Volume.Close" {
			f.want = []error{folio.ErrWALRemains}
		}
		f.try(t, dir, image, c)
	}
}

// fillUp leaves no room on the disk of a file.
func fillUp(t testing.TB, name string) {
	t.Helper()
	f, err := os.Create(name)
	must.Do(t, err)
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 64<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

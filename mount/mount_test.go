//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

// TestRefused mounts where nothing can be mounted.
func TestRefused(t *testing.T) {
	needFUSE(t)
	vol, err := folio.Open(newVolume(t), &folio.Options{Create: true})
	must(t, err)
	defer vol.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o644))
	for name, c := range map[string]struct {
		dir, sub string
	}{
		"missing":           {dir: filepath.Join(dir, "missing")},
		"file":              {dir: file},
		"missing in volume": {dir: dir, sub: "missing"},
	} {
		s, err := Mount(vol, c.dir, &Options{Dir: c.sub})
		if err == nil {
			_ = s.Unmount()
			t.Errorf("%s: mounted", name)
			continue
		}
		if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.dir) {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// TestGone truncates and removes a volume that is mounted: programs get errors, and the daemon
// lives.
func TestGone(t *testing.T) {
	for _, how := range []string{"removed", "truncated"} {
		t.Run(how, func(t *testing.T) {
			d := startDaemon(t, newVolume(t))
			must(t, os.WriteFile(d.path("file"), make([]byte, 1<<20), 0o644))
			if how == "removed" {
				for _, ending := range []string{"", "-wal", "-shm"} {
					must(t, os.Remove(d.volume+ending))
				}
			} else {
				must(t, os.Truncate(d.volume, 0))
				must(t, os.Truncate(d.volume+"-wal", 0))
			}
			d.within(20*time.Second, "writing to a volume that is gone", func() {
				failed := false
				for i := 0; i < 100 && !failed; i++ {
					failed = os.WriteFile(d.path("other"), make([]byte, 1<<16), 0o644) != nil
					time.Sleep(time.Millisecond)
				}
				if !failed {
					t.Error("nothing has failed")
				}
			})
			d.alive()
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-d.ended: // that it could not close the volume is an error of the daemon
			case <-time.After(10 * time.Second):
				t.Error("the daemon did not unmount")
			}
			d.kill()
		})
	}
}

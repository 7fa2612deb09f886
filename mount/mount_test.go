//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlitefile"
)

// TestRefused mounts where nothing can be mounted.
func TestRefused(t *testing.T) {
	needFUSE(t)
	vol, err := folio.Open(newVolume(t), &folio.Options{Create: true})
	must.Do(t, err)
	defer vol.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
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

// TestStale mounts at a directory whose daemon was killed: that is an error until somebody unmounts
// it.
func TestStale(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	must.Do(t, os.WriteFile(d.path("file"), []byte("content"), 0o644))
	d.crash()
	for start := time.Now(); ; { // the kernel ends requests in other ways as long as it takes the connection down
		_, err := os.Stat(d.path("file"))
		if errors.Is(err, syscall.ENOTCONN) {
			break
		}
		if err == nil || time.Since(start) > 5*time.Second {
			t.Errorf("a program gets %v", err)
			break
		}
	}
	if err := d.tryStart(); err == nil || !strings.Contains(d.said.String(), d.dir) || strings.Count(d.said.String(), "\n") != 1 {
		t.Errorf("mounted again: %v, %q", err, d.said.String())
	}
	must.Do(t, unix.Unmount(d.dir, unix.MNT_DETACH))
	d.start()
	if got, err := readAll(d.path("file")); got != "content" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNested mounts a volume twice at one directory, and once more within its own mount.
func TestNested(t *testing.T) {
	outer := startDaemon(t, newVolume(t))
	must.Do(t, os.Mkdir(outer.path("dir"), 0o755))
	above := &daemon{t: t, volume: outer.volume, dir: outer.dir}
	above.start()
	t.Cleanup(above.stop)
	inner := &daemon{t: t, volume: outer.volume, dir: outer.path("dir")}
	inner.start()
	t.Cleanup(inner.stop)
	must.Do(t, os.WriteFile(inner.path("file"), []byte("content"), 0o644))
	inner.stop()
	if got, err := readAll(above.path("file")); got != "content" {
		t.Errorf("%q, %v", got, err)
	}
	above.stop()
	if got, err := readAll(outer.path("file")); got != "content" {
		t.Errorf("%q, %v", got, err)
	}
}

// goneVolumes are what somebody else may do to a volume that is mounted.
var goneVolumes = map[string]func(t *testing.T, d *daemon){
	"removed": func(t *testing.T, d *daemon) {
		for _, ending := range []string{"", "-wal", "-shm"} {
			must.Do(t, os.Remove(d.volume+ending))
		}
	},
	"truncated": func(t *testing.T, d *daemon) {
		must.Do(t, os.Truncate(d.volume, 0))
		must.Do(t, os.Truncate(d.volume+"-wal", 0))
	},
	"replaced, and its log removed": func(t *testing.T, d *daemon) {
		must.Do(t, os.Remove(d.volume+"-wal"))
		must.Do(t, os.Remove(d.volume+"-shm"))
		must.Do(t, os.Rename(otherVolume(t), d.volume))
	},
	"replaced": func(t *testing.T, d *daemon) {
		must.Do(t, os.Rename(otherVolume(t), d.volume))
	},
	"replaced by content": func(t *testing.T, d *daemon) {
		db, err := sqlitefile.Open(d.volume, nil)
		must.Do(t, err)
		must.Do(t, db.Checkpoint(t.Context(), sqlitefile.CheckpointFull)) // none is at work while the file is written over
		must.Do(t, db.Close())
		data, err := os.ReadFile(otherVolume(t))
		must.Do(t, err)
		must.Do(t, os.WriteFile(d.volume, data, 0o644))
	},
}

// otherVolume returns the path of a new volume.
func otherVolume(t *testing.T) string {
	other := newVolume(t)
	vol, err := folio.Open(other, &folio.Options{Create: true})
	must.Do(t, err)
	must.Do(t, vol.WriteFile("new", []byte("content"), 0o644))
	must.Do(t, vol.Close())
	return other
}

// TestGone truncates, removes and replaces a volume that is mounted: programs get errors, one line
// of the log says why, and the daemon lives. A new volume of that name is left alone.
func TestGone(t *testing.T) {
	for how, harm := range goneVolumes {
		t.Run(how, func(t *testing.T) {
			d := startDaemon(t, newVolume(t))
			must.Do(t, os.WriteFile(d.path("file"), make([]byte, 1<<20), 0o644))
			harm(t, d)
			d.within(20*time.Second, "writing to a volume that is gone", func() { writeGone(t, d) })
			d.alive()
			if said := d.said.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, d.volume) {
				t.Errorf("the daemon said %q", said)
			}
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case err := <-d.ended: // that it could not close the volume is an error of the daemon
				d.ended <- err
			case <-time.After(10 * time.Second):
				t.Error("the daemon did not unmount")
			}
			d.kill()
			if !strings.HasPrefix(how, "replaced") {
				return
			}
			checkVolume(t, d.volume)
			vol, err := folio.Open(d.volume, nil)
			must.Do(t, err)
			defer vol.Close()
			if got, err := vol.ReadFile("new"); string(got) != "content" {
				t.Errorf("the new volume has %q, %v", got, err)
			}
		})
	}
}

// writeGone writes until that fails, and then some more.
func writeGone(t *testing.T, d *daemon) {
	failed, tries := 0, 0
	eventually(t, "writing fails", func() bool {
		err := os.WriteFile(d.path("other"), make([]byte, 1<<16), 0o644)
		if err != nil {
			failed++
		}
		if err != nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("writing: %v", err)
		}
		tries++
		return failed == 10 || failed > 0 && tries >= 100
	})
}

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// TestEight lets eight processes make, write and close files at once, in one directory. All must be
// there, in the mount and in the volume.
func TestEight(t *testing.T) {
	const processes, files = 8, 250
	d := startDaemon(t, newVolume(t))
	script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do echo "content $0 $i" > "$1/file-$0-$i" || exit; i=$((i+1)); done`, files)
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			if out, err := d.run(time.Minute, "sh", "-c", script, fmt.Sprint(p), d.dir); err != nil {
				t.Errorf("process %d: %v\n%s", p, err, out)
			}
		})
	}
	wg.Wait()
	look := func(where string, read func(name string) ([]byte, error)) {
		t.Helper()
		for p := range processes {
			for i := range files {
				got, err := read(fmt.Sprintf("file-%d-%d", p, i))
				if want := fmt.Sprintf("content %d %d\n", p, i); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v; want %q", where, got, err, want)
				}
			}
		}
	}
	look("in the mount", func(name string) ([]byte, error) { return os.ReadFile(d.path(name)) })
	if list, err := os.ReadDir(d.dir); err != nil || len(list) != processes*files {
		t.Errorf("%d names, %v", len(list), err)
	}
	d.stop()
	checkVolume(t, d.volume)
	vol, err := folio.Open(d.volume, nil)
	must.Do(t, err)
	defer vol.Close()
	look("in the volume", vol.ReadFile)
}

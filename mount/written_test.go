//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var writtenFor = flag.Duration("written.for", 2*time.Second, "how long TestWritten runs")

// TestWritten writes a file through a mount, while others read it and another process changes a
// file whose rows lie in the same pages. The mount must show what was written, also when the other
// process pauses, so that nothing makes the kernel forget what it has.
func TestWritten(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	vol, err := folio.Open(d.volume, nil)
	must.Do(t, err)
	defer vol.Close()
	must.Do(t, os.WriteFile(d.path("file"), fmt.Appendf(nil, "%08d", 0), 0o644))
	must.Do(t, vol.WriteFile("neighbour", []byte("0"), 0o644))
	var paused sync.Mutex // held by a change
	var over atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	defer over.Store(true)
	wg.Go(func() {
		for n := 0; !over.Load(); n++ {
			paused.Lock()
			_ = vol.WriteFile("neighbour", fmt.Append(nil, n), 0o644)
			paused.Unlock()
		}
	})
	for range 2 {
		wg.Go(func() {
			for !over.Load() {
				_, _ = readAll(d.path("file"))
			}
		})
	}
	f, err := os.OpenFile(d.path("file"), os.O_RDWR, 0)
	must.Do(t, err)
	defer f.Close()
	writes, old := 0, 0
	for start := time.Now(); time.Since(start) < *writtenFor; writes++ {
		want := fmt.Sprintf("%08d", writes)
		_, err := f.WriteAt([]byte(want), 0)
		must.Do(t, err)
		got, err := readAll(d.path("file"))
		must.Do(t, err)
		if got != want {
			old++
			paused.Lock()
			time.Sleep(100 * time.Millisecond)
			if later, err := readAll(d.path("file")); later != want {
				t.Errorf("%q was written, the mount shows %q, and later %q, %v", want, got, later, err)
			}
			paused.Unlock()
		}
	}
	t.Logf("%d writes; %d times the mount showed what was there before", writes, old)
}

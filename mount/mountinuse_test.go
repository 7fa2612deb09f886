//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMountedInUse lets programs look at a volume while it is being mounted: a request that comes
// before the daemon is ready must be answered, too.
func TestMountedInUse(t *testing.T) {
	needFUSE(t)
	d := startDaemon(t, newVolume(t))
	for range 5 {
		d.stop()
		var stop atomic.Bool
		var programs sync.WaitGroup
		for range 4 {
			programs.Go(func() {
				for !stop.Load() {
					_, _ = os.Lstat(d.path("nothing"))
				}
			})
		}
		d.start()
		stop.Store(true)
		d.within(10*time.Second, "looking at a volume that has just been mounted", programs.Wait)
	}
}

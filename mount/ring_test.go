//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/mount/internal/ring"
)

// TestRing runs other tests with requests that come over io_uring. Root may let the kernel offer
// it.
func TestRing(t *testing.T) {
	needFUSE(t)
	const parameter = "/sys/module/fuse/parameters/enable_uring"
	before, err := os.ReadFile(parameter)
	if err != nil {
		t.Skip("requests over io_uring: ", err)
	}
	if err := os.WriteFile(parameter, []byte("Y"), 0); err != nil {
		t.Skip("requests over io_uring: ", err)
	}
	defer func() { must(t, os.WriteFile(parameter, before[:1], 0)) }()
	if !ring.Enabled() {
		t.Skip("requests over io_uring: the system refuses io_uring")
	}
	t.Run("Used", testRingUsed)
	t.Run("First", testRingFirst)
	t.Run("Fsx", TestFsx)
	t.Run("Killed", TestKilled)
	t.Run("Coherence", TestCoherence)
	t.Run("Race", TestRace)
	t.Run("Followers", TestFollowers)
	t.Run("Appended", TestAppended)
	t.Run("Hostile", TestHostile)
	t.Run("Idle", TestIdle)
	t.Run("Eight", TestEight)
}

// testRingUsed looks whether a daemon has rings.
func testRingUsed(t *testing.T) {
	d := startDaemon(t, newVolume(t))
	dir := "/proc/" + strconv.Itoa(d.cmd.Process.Pid) + "/fd/"
	list, err := os.ReadDir(dir)
	must(t, err)
	rings := 0
	for _, e := range list {
		if link, err := os.Readlink(dir + e.Name()); err == nil && link == "anon_inode:[io_uring]" {
			rings++
		}
	}
	if rings == 0 {
		t.Error("the daemon has no ring")
	}
}

// testRingFirst lets programs look at a volume while it is being mounted: a request that comes
// before all threads wait for one must be answered, too.
func testRingFirst(t *testing.T) {
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

//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

var raceFor = flag.Duration("race.for", 3*time.Second, "how long TestRace runs")

// TestRace lets programs read through a mount all the time, while another process changes the same
// files. Answers of the daemon and notices to the kernel overtake each other then. Each time that
// the writers pause, the mount must show what is there: an old answer in the caches would stay.
func TestRace(t *testing.T) {
	c := newCoherence(t)
	var paused sync.RWMutex // held by a change
	var over atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	defer over.Store(true)
	for w := range 2 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 0))
			for !over.Load() {
				paused.RLock()
				raceChange(c, rng)
				paused.RUnlock()
				if rng.IntN(8) == 0 {
					time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
				}
			}
		})
	}
	for r := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(r), 1))
			for !over.Load() {
				raceRead(c.mount.dir, rng)
			}
		})
	}
	rounds := 0
	var worst time.Duration
	for start := time.Now(); time.Since(start) < *raceFor; rounds++ {
		time.Sleep(100 * time.Millisecond)
		paused.Lock()
		worst = max(worst, c.settle(fmt.Sprintf("round %d", rounds)))
		paused.Unlock()
	}
	t.Logf("%d rounds, settled after %v at most", rounds, worst)
}

func raceName(rng *rand.Rand) string { return fmt.Sprintf("a/race%d", rng.IntN(8)) }

// raceChange makes one change of the files that all change and read.
func raceChange(c *coherence, rng *rand.Rand) {
	vol, name := c.vol, raceName(rng)
	switch rng.IntN(8) {
	case 0:
		_ = vol.Remove(name)
	case 1:
		_ = vol.Rename(name, raceName(rng))
	case 2:
		_ = vol.Chmod(name, os.FileMode(0o600+rng.IntN(64)))
	case 3:
		if f, err := vol.OpenFile(name, os.O_RDWR, 0); err == nil {
			_, _ = f.WriteAt(fmt.Appendf(nil, "%d", rng.Uint64()), int64(rng.IntN(1<<rng.IntN(18))))
			_ = f.Close()
		}
	case 4, 5:
		raceRow(c, rng, name)
	default:
		_ = vol.WriteFile(name, fmt.Appendf(nil, "%0*d", 1+rng.IntN(1<<rng.IntN(18)), rng.IntN(10)), 0o644)
	}
}

// raceRow overwrites a part of a content in its row, and leaves its inode as it is.
func raceRow(c *coherence, rng *rand.Rand, name string) {
	info, err := c.vol.Lstat(name)
	if err != nil || info.Size() < 4 {
		return
	}
	id := store.DataID(store.Ino(info.Sys().(*folio.Node).Ino), 0)
	_ = c.raw.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("data")
		if err != nil {
			return err
		}
		return t.WriteAt(id, 1, fmt.Appendf(nil, "%04d", rng.IntN(10000)), rng.Int64N(min(info.Size(), store.ChunkSize)-3))
	})
}

// raceRead reads in one of the ways that leave something in the caches of the kernel.
func raceRead(dir string, rng *rand.Rand) {
	path := filepath.Join(dir, raceName(rng))
	switch rng.IntN(4) {
	case 0:
		_, _ = os.Lstat(path)
	case 1:
		_, _ = os.ReadDir(filepath.Dir(path))
	case 2:
		_, _ = os.Open(path + "x")
	default:
		_, _ = readAll(path)
	}
}

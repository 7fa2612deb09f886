//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var kills = flag.Int("kills", 5, "how often TestKilled kills the daemon")

// killsEach is how often the daemon of one volume is killed. Each time all of the volume is read
// again, so a volume must not grow for ever.
const killsEach = 25

// TestKilled kills the daemon while programs write, and looks for each file that one of them had
// closed by then.
func TestKilled(t *testing.T) {
	var volume string
	var written map[string][]byte
	files := 0
	for round := range *kills {
		if round%killsEach == 0 {
			files += len(written)
			volume, written = newVolume(t), make(map[string][]byte)
		}
		d := startDaemon(t, volume)
		written = killOnce(t, d, round, written)
		findAll(t, volume, written)
		checkVolume(t, volume)
	}
	t.Logf("%d files, all there after %d kills", files+len(written), *kills)
}

// killOnce writes files until the daemon is dead, and returns which must be there.
func killOnce(t *testing.T, d *daemon, round int, written map[string][]byte) map[string][]byte {
	const writers = 4
	var mu sync.Mutex
	var wg sync.WaitGroup
	enough := len(written) + 10 + rand.IntN(100)
	var dead atomic.Bool // what is written from now on goes into the directory below the mount
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(round), uint64(w)))
			for i := 0; !dead.Load(); i++ {
				name := fmt.Sprintf("file%d-%d-%d", round, w, i)
				content := bytes.Repeat([]byte{byte(i)}, rng.IntN(1<<rng.IntN(19)))
				if os.WriteFile(d.path(name), content, 0o644) != nil {
					return
				}
				if dead.Load() {
					return
				}
				moved := name
				if i%3 == 0 && os.Rename(d.path(name), d.path("moved-"+name)) == nil {
					moved = "moved-" + name
				}
				mu.Lock()
				if _, err := os.Lstat(d.path(moved)); err == nil || moved == name { // else the rename is not known to have happened
					written[moved] = content
				}
				mu.Unlock()
			}
		})
	}
	eventually(t, "files are written", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(written) >= enough
	})
	dead.Store(true)
	d.kill()
	wg.Wait()
	return written
}

// findAll looks for files in a volume.
func findAll(t *testing.T, volume string, written map[string][]byte) {
	vol, err := folio.Open(volume, nil)
	must.Do(t, err)
	defer vol.Close()
	must.Do(t, vol.View(context.Background(), func(rx *folio.Rx) error {
		for name, want := range written {
			got, err := rx.ReadFile(name)
			if os.IsNotExist(err) { // killed between a rename and its answer
				got, err = rx.ReadFile("moved-" + name)
			}
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
			}
		}
		return nil
	}))
}

package volumetest

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var million = flag.Int("million", 2000, "how many files TestMillion makes and removes")

// A millionRun has the time and size of making and removing so many files.
type millionRun struct {
	files          int
	create, remove time.Duration
	full, left     int64 // bytes of the volume: with the files, and compact without them
	compact        time.Duration
}

// TestMillion makes and removes files, a hundredth as many first, and then many. Afterwards the
// volume must be as small as a new volume. The time to make a file must not depend on
// their number; -v shows that.
func TestMillion(t *testing.T) {
	t.Parallel()
	fresh := Size(t, Empty(t))
	few, many := makeAndRemove(t, max(1, *million/100)), makeAndRemove(t, *million)
	for _, run := range []millionRun{few, many} {
		n := time.Duration(run.files)
		t.Logf("%d files: %v to create one, %v to remove one, %d bytes; compact in %v: %d bytes, an empty volume has %d",
			run.files, run.create/n, run.remove/n, run.full, run.compact, run.left, fresh)
		if run.left > fresh {
			t.Errorf("%d bytes after %d files, an empty volume has %d", run.left, run.files, fresh)
		}
	}
	ratio := func(a, b time.Duration) float64 {
		return float64(a) / float64(many.files) / (float64(b) / float64(few.files))
	}
	t.Logf("a file takes %.2f times as long to create, %.2f times to remove", ratio(many.create, few.create), ratio(many.remove, few.remove))
}

// millionDir is how many files lie in a directory.
const millionDir = 1000

// makeAndRemove makes n files in directories of a thousand, removes them one by one, and compacts
// the volume.
func makeAndRemove(t testing.TB, n int) millionRun {
	t.Helper()
	d := t.TempDir()
	v, err := folio.Open(filepath.Join(d, "v.folio"), &folio.Options{Create: true})
	must.Do(t, err)
	defer v.Close()
	run := millionRun{files: n}
	name := func(i int) string { return fmt.Sprintf("%04d/%03d.txt", i/millionDir, i%millionDir) }
	content := make([]byte, 100)
	start := time.Now()
	for i := range n {
		if i%millionDir == 0 {
			must.Do(t, v.Mkdir(filepath.Dir(name(i)), 0o755))
		}
		must.Do(t, v.WriteFile(name(i), content, 0o644))
	}
	run.create = time.Since(start)
	run.full = Size(t, v)
	start = time.Now()
	for i := range n {
		must.Do(t, v.Remove(name(i)))
		if i%millionDir == millionDir-1 || i == n-1 {
			must.Do(t, v.Remove(filepath.Dir(name(i))))
		}
	}
	run.remove = time.Since(start)
	start = time.Now()
	must.Do(t, v.Compact(t.Context(), nil))
	run.compact = time.Since(start)
	run.left = Size(t, v)
	WantClean(t, v)
	return run
}

// BenchmarkMillion is TestMillion with figures: none, a hundredth, and all of the files.
//
//	go test ./internal/volumetest -run '^$' -bench Million -benchtime 1x -million 1000000
func BenchmarkMillion(b *testing.B) {
	for _, run := range []struct {
		name  string
		files int
	}{{"none", 0}, {"few", max(1, *million/100)}, {"many", *million}} {
		b.Run(run.name, func(b *testing.B) {
			for b.Loop() {
				r, files := makeAndRemove(b, run.files), float64(max(1, run.files))
				b.ReportMetric(float64(r.create)/files, "ns/create")
				b.ReportMetric(float64(r.remove)/files, "ns/remove")
				b.ReportMetric(float64(r.left), "B-left")
			}
		})
	}
}

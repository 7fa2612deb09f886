package fuzzdata

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
)

// The limits for one image.
const (
	maxSeconds = 2
	maxBytes   = 64 << 20
)

var (
	only    = flag.String("image", "", "read only this image, such as fuzzdata3.db/54, and say all about it")
	apart   = flag.Bool("apart", false, "say all about images that both call corrupt and read differently")
	verbose = flag.Int("differences", 20, "how many differences to print")
)

// TestImages reads every image with the engine, mapped and plain, and with C SQLite.
//
// The engine must not panic, nor take more than two seconds or 64 MiB for any. Where C SQLite's
// integrity_check says ok, it must read the same rows and find nothing wrong. Where C SQLite calls
// a b-tree corrupt, it must call the image corrupt, or read the same rows.
func TestImages(t *testing.T) {
	if !judge.Available {
		t.Log("C SQLite skipped: no C compiler in this build; the engine reads alone")
	}
	r := &replay{t: t, dir: t.TempDir(), classes: make(map[string]int)}
	r.run(corpusDir(t))
	r.report()
	if *only == "" && r.images != imageCount {
		t.Errorf("%d images, want %d", r.images, imageCount)
	}
}

// A replay goes through all images with two readers at a time.
type replay struct {
	t   *testing.T
	dir string

	// alone is held for reading while the engine reads an image, and for writing to measure a
	// single image.
	alone sync.RWMutex

	mu          sync.Mutex // guards the fields below
	images      int
	classes     map[string]int
	spared      int // tables and indexes that the engine refuses with C SQLite, when that is not lenient
	onlyOurs    int // tables of corrupt images that only the engine reads to the end
	onlyTheirs  int // and that only C SQLite does
	differing   int // and that both do, with different rows
	differences []string
	slowest     float64
	largest     uint64
}

func (r *replay) run(dir string) {
	work := make(chan image, 16)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			w := new(worker)
			defer w.stop()
			for img := range work {
				r.image(w, img)
			}
		})
	}
	for img, err := range images(dir) {
		if err != nil {
			r.t.Error(err)
			break
		}
		if *only == "" || *only == img.name {
			work <- img
		}
	}
	close(work)
	wg.Wait()
}

// image reads one image with both.
func (r *replay) image(w *worker, img image) {
	wait := func() *verdict { return nil }
	if judge.Available {
		wait = w.ask(img.bytes)
	}
	watchdog := time.AfterFunc(time.Minute, func() { panic("the engine hangs on " + img.name) })
	r.alone.RLock()
	mapped, plain := find(r.dir, img, false), find(r.dir, img, true)
	r.alone.RUnlock()
	mapped, plain = r.again(img, mapped, false), r.again(img, plain, true)
	watchdog.Stop()
	v := wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.images++
	r.slowest = max(r.slowest, mapped.seconds, plain.seconds)
	r.largest = max(r.largest, mapped.bytes, plain.bytes)
	for _, d := range append(limits(mapped), limits(plain)...) {
		r.differ(img, d)
	}
	if mapped.String() != plain.String() {
		r.differ(img, fmt.Sprintf("mapped and plain differ:\n  %v\n  %v", mapped, plain))
	}
	if v == nil {
		return
	}
	r.classes[v.class()]++
	if d := v.compare(mapped); d != "" {
		r.differ(img, fmt.Sprintf("%s: %s", v.class(), d))
	}
	r.spared += v.Spared
	onlyOurs, onlyTheirs, differ := v.apart(mapped)
	r.onlyOurs, r.onlyTheirs, r.differing = r.onlyOurs+onlyOurs, r.onlyTheirs+onlyTheirs, r.differing+differ
	if *apart && onlyOurs+onlyTheirs+differ > 0 {
		r.t.Logf("%s: only ours %d, only theirs %d, differ %d\nC:    %v\nours: %v", img.name, onlyOurs, onlyTheirs, differ, v, mapped)
	}
	if *only != "" {
		r.t.Logf("%s\nC:    %v\nours: %v", img.name, v, mapped)
	}
}

// again measures a reading that was over the limits once more, with nothing else going on in the
// process.
func (r *replay) again(img image, f *finding, plain bool) *finding {
	if len(limits(f)) == 0 || f.panicked != "" {
		return f
	}
	r.alone.Lock()
	defer r.alone.Unlock()
	return find(r.dir, img, plain)
}

// limits says which limits a reading broke.
func limits(f *finding) (broken []string) {
	if f.panicked != "" {
		broken = append(broken, "panic: "+f.panicked)
	}
	if f.seconds > maxSeconds {
		broken = append(broken, fmt.Sprintf("took %.2f s", f.seconds))
	}
	if f.bytes > maxBytes {
		broken = append(broken, fmt.Sprintf("allocated %d bytes", f.bytes))
	}
	return broken
}

func (r *replay) differ(img image, what string) {
	r.differences = append(r.differences, img.name+": "+what)
}

func (r *replay) report() {
	for _, class := range slices.Sorted(maps.Keys(r.classes)) {
		r.t.Logf("%6d  %s", r.classes[class], class)
	}
	r.t.Logf("%6d  tables and indexes that neither reads unless C is told to bear their statements", r.spared)
	r.t.Logf("%6d  tables of corrupt images read to the end only by the engine, %d only by C, %d by both with different rows",
		r.onlyOurs, r.onlyTheirs, r.differing)
	r.t.Logf("%6d  images; slowest %.3f s, largest %d KiB allocated", r.images, r.slowest, r.largest>>10)
	for i, d := range r.differences {
		if i == *verbose {
			r.t.Errorf("and %d more", len(r.differences)-i)
			break
		}
		r.t.Error(d)
	}
}

package sqlitefile

import (
	"encoding/gob"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/osfile/crashfs"
)

// An exportedImage is an image as another program gets it, by encoding/gob.
// internal/oracle/recovery lets C SQLite recover it.
type exportedImage struct {
	Load      string // the name of the test, with its seed
	At        int    // the operation after which the power failed
	How       string
	Low, High int64 // the versions that may be there
	Files     map[string][]byte
}

// exportPercent is how many images of a hundred are exported.
const exportPercent = 1

// crashExporter is where all tests of a run export to.
var crashExporter struct {
	mu  sync.Mutex // guards what follows
	gob *gob.Encoder
}

// export exports some of the images that verify would open, each once.
func (l *crashLoad) export(seed uint64, limit int) {
	l.t.Helper()
	history := l.fs.History()
	v := newCrashVerifier(l, history, seed, limit, 0)
	rng := rand.New(rand.NewPCG(seed, 3))
	for disk := range history.Crashes() {
		for img := range v.images(disk) {
			if rng.IntN(100) >= exportPercent || v.known(img) {
				continue
			}
			low, high := l.bounds(disk.At(), img.How != "all")
			e := exportedImage{Load: l.t.Name(), At: disk.At(), How: img.How, Low: low, High: high, Files: make(map[string][]byte)}
			for _, name := range img.Names() {
				e.Files[name] = img.File(name)
			}
			if err := e.write(); err != nil {
				l.t.Fatal(err)
			}
		}
	}
}

// known reports whether an image was exported.
func (v *crashVerifier) known(img *crashfs.Image) bool {
	hash := img.Hash()
	_, ok := v.seen[hash]
	v.seen[hash] = 0
	return ok
}

func (e *exportedImage) write() error {
	x := &crashExporter
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.gob.Encode(e)
}

// openCrashExport makes the file for images, if any are to be exported, until the end of the test.
func openCrashExport(t *testing.T) {
	if *crashExport == "" {
		return
	}
	file, err := os.Create(*crashExport)
	if err != nil {
		t.Fatal(err)
	}
	crashExporter.gob = gob.NewEncoder(file)
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
}

package recovery

import (
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio/internal/oracle/judge"
)

var (
	imageSeeds = flag.Uint64("images.seeds", 1, "with how many seeds the crash tests are run for images")
	imageFirst = flag.Uint64("images.seed", 1, "the first of them; 1 is that of the usual crash tests")
)

// An image is a file set that the crash tests of sqlitefile export: our files on the disk after the
// power failed.
type image struct {
	Load      string
	At        int
	How       string
	Low, High int64 // the versions that may be there
	Files     map[string][]byte
}

// TestImages lets C SQLite recover one in a hundred of the images that the crash tests check, and
// our engine a copy. Both must find the same transactions, and all that were acknowledged. Each
// engine must be able to read the files that the other one leaves.
func TestImages(t *testing.T) {
	if !judge.Available {
		t.Skip("skipped: no C compiler, so no C SQLite to recover")
	}
	program := buildCrashTests(t)
	var count atomic.Int64
	for n := range *imageSeeds {
		file := exportImages(t, program, *imageFirst+n)
		work := make(chan *image)
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() { count.Add(recoverImages(t, work)) })
		}
		err := eachImage(file, func(m *image) { work <- m })
		close(work)
		workers.Wait()
		if err := errors.Join(err, os.Remove(file)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d images of seeds %d to %d", count.Load(), *imageFirst, *imageFirst+*imageSeeds-1)
}

// buildCrashTests builds the tests of sqlitefile, which lie in another module.
func buildCrashTests(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("skipped: no go command to build the crash tests with")
	}
	program := filepath.Join(t.TempDir(), "crash.test")
	cmd := exec.Command("go", "test", "-c", "-o", program, "./sqlitefile")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// exportImages returns a file of images.
func exportImages(t *testing.T, program string, seed uint64) string {
	t.Helper()
	file := filepath.Join(scratchDir(t), "images")
	cmd := exec.Command(program, "-test.run=^TestCrash$", "-crash.export="+file, fmt.Sprint("-crash.seed=", seed))
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// eachImage reads a file of images.
func eachImage(name string, do func(*image)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for in := gob.NewDecoder(f); ; {
		m := new(image)
		if err := in.Decode(m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		do(m)
	}
}

// recoverImages lets both recover each image, and returns how many there were.
func recoverImages(t *testing.T, work <-chan *image) (count int64) {
	dir := scratchDir(t)
	for m := range work {
		f := make(files)
		for name, data := range m.Files {
			f[filepath.Base(name)] = data
		}
		count++
		c, err := f.judge(dir)
		if err == nil && (c.version < m.Low || c.version > m.High) {
			err = fmt.Errorf("has the transactions up to %d, want %d to %d", c.version, m.Low, m.High)
		}
		if err != nil {
			t.Errorf("%s, crash after operation %d with %s: %v\nfiles in %s", m.Load, m.At, m.How, err, f.keep(t))
		}
	}
	return count
}

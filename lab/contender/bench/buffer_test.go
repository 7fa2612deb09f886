package bench

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
)

// BenchmarkBuffer opens every file of the Go sources in a random order, reads it into one buffer
// that is there, and closes it.
func BenchmarkBuffer(b *testing.B) {
	t := goroot(b, "src")
	v, err := folio.Open(t.volume, nil)
	must(b, err)
	b.Cleanup(func() { must(b, v.Close()) })
	inside := regular(b, v.FS())
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(inside), func(i, j int) { inside[i], inside[j] = inside[j], inside[i] })
	outside := make([]string, len(inside))
	for i, name := range inside {
		outside[i] = filepath.Join(t.dir, filepath.FromSlash(name))
	}
	fromVolume := func(name string) (io.ReadCloser, error) { return v.Open(name) }
	fromDisk := func(name string) (io.ReadCloser, error) { return os.Open(name) }
	want, err := readInto(fromDisk, outside)
	must(b, err)
	for _, c := range []struct {
		name  string
		open  func(name string) (io.ReadCloser, error)
		names []string
	}{{"files", fromDisk, outside}, {"folio", fromVolume, inside}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if got, err := readInto(c.open, c.names); err != nil || got != want {
					b.Fatalf("%+v, want %+v, %v", got, want, err)
				}
			}
		})
	}
}

// readInto reads files into one buffer, which is larger than each of them.
func readInto(open func(name string) (io.ReadCloser, error), names []string) (s sum, err error) {
	p := make([]byte, 16<<20)
	for _, name := range names {
		f, err := open(name)
		if err != nil {
			return s, err
		}
		n, err := io.ReadFull(f, p)
		if !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
			return s, errors.Join(err, errors.New(name+" is larger than the buffer"), f.Close())
		}
		if err := f.Close(); err != nil {
			return s, err
		}
		s.add(p[:n])
	}
	return s, nil
}

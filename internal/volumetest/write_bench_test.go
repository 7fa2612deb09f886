package volumetest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var benchDir = flag.String("bench.dir", "", "where benchmarks of writing work; the temporary directory if empty")

// A benchTarget is where a benchmark writes files.
type benchTarget struct {
	name  string
	write func(name string, data []byte) error
}

// writeTargets are a volume, and a directory of the system in the ways that people write files. For
// those that sync, all is durable when a call returns.
func writeTargets(b *testing.B, sync bool) []benchTarget {
	d, err := os.MkdirTemp(*benchDir, "folio")
	must.Do(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(d) })
	v, err := folio.Open(filepath.Join(d, "v.folio"), &folio.Options{Create: true})
	must.Do(b, err)
	b.Cleanup(func() { must.Do(b, v.Close()) })
	for _, sub := range []string{"plain", "rename"} {
		must.Do(b, os.Mkdir(filepath.Join(d, sub), 0o755))
		must.Do(b, v.Mkdir(sub, 0o755))
	}
	plain := func(name string, data []byte) error {
		return os.WriteFile(filepath.Join(d, "plain", name), data, 0o644)
	}
	renamed := func(name string, data []byte) error {
		return writeRenamed(filepath.Join(d, "rename"), name, data, sync)
	}
	volume := func(name string, data []byte) error {
		err := v.WriteFile("plain/"+name, data, 0o644)
		if err == nil && sync {
			err = v.Sync(context.Background())
		}
		return err
	}
	if sync {
		return []benchTarget{{"folio", volume}, {"rename", renamed}}
	}
	return []benchTarget{{"folio", volume}, {"plain", plain}, {"rename", renamed}}
}

// writeRenamed writes a file under a temporary name and renames it.
func writeRenamed(dir, name string, data []byte, sync bool) error {
	f, err := os.CreateTemp(dir, "tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil || !sync {
		return err
	}
	parent, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Sync()
}

// BenchmarkWriteFile writes new files of 100 bytes from one goroutine.
//
//	go test ./internal/volumetest -run '^$' -bench 'WriteFile$' -benchtime 20000x -count 5
func BenchmarkWriteFile(b *testing.B) {
	data := make([]byte, 100)
	for _, target := range writeTargets(b, false) {
		n := 0
		b.Run(target.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n++
				must.Do(b, target.write(fmt.Sprint("file", n), data))
			}
		})
	}
}

// BenchmarkRewriteFile replaces a file of 100 bytes.
func BenchmarkRewriteFile(b *testing.B) {
	data := make([]byte, 100)
	for _, target := range writeTargets(b, false) {
		b.Run(target.name, func(b *testing.B) {
			for b.Loop() {
				must.Do(b, target.write("file", data))
			}
		})
	}
}

// BenchmarkManyWriters writes 1,000 files of 100 bytes from each of 100 goroutines.
func BenchmarkManyWriters(b *testing.B) { benchWriters(b, false, 1000) }

// BenchmarkManySync does so durably, with 20 files each.
func BenchmarkManySync(b *testing.B) { benchWriters(b, true, 20) }

func benchWriters(b *testing.B, durable bool, each int) {
	data := make([]byte, 100)
	for _, target := range writeTargets(b, durable) {
		round := 0
		b.Run(target.name, func(b *testing.B) {
			for b.Loop() {
				round++
				var wg sync.WaitGroup
				for g := range 100 {
					wg.Go(func() {
						for i := range each {
							if err := target.write(fmt.Sprint(round, "-", g, "-", i), data); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*100*each), "ns/file")
		})
	}
}

// A benchFile has the methods that the benchmarks of a large file use.
type benchFile interface {
	io.ReadWriteCloser
	io.ReaderAt
	io.WriterAt
}

// BenchmarkLargeFile writes 1 GiB in pieces of 1 MiB, reads it, and reads and writes 4 KiB of it at
// random, on a volume and on the system.
//
//	go test ./internal/volumetest -run '^$' -bench LargeFile -benchtime 1x
func BenchmarkLargeFile(b *testing.B) {
	d, err := os.MkdirTemp(*benchDir, "folio")
	must.Do(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(d) })
	v, err := folio.Open(filepath.Join(d, "v.folio"), &folio.Options{Create: true})
	must.Do(b, err)
	b.Cleanup(func() { must.Do(b, v.Close()) })
	for name, open := range map[string]func() (benchFile, error){
		"folio":  func() (benchFile, error) { return v.OpenFile("large", os.O_RDWR|os.O_CREATE, 0o644) },
		"system": func() (benchFile, error) { return os.OpenFile(filepath.Join(d, "large"), os.O_RDWR|os.O_CREATE, 0o644) },
	} {
		b.Run(name, func(b *testing.B) { benchLarge(b, open) })
	}
}

const largeSize, largePiece, smallPiece = 1 << 30, 1 << 20, 4 << 10

func benchLarge(b *testing.B, open func() (benchFile, error)) {
	p := make([]byte, largePiece)
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	sequential := func(do func(f benchFile) (int, error)) func(b *testing.B) {
		return func(b *testing.B) {
			b.SetBytes(largeSize)
			for b.Loop() {
				f, err := open()
				must.Do(b, err)
				for range largeSize / largePiece {
					if _, err := do(f); err != nil {
						b.Fatal(err)
					}
				}
				must.Do(b, f.Close())
			}
		}
	}
	random := func(do func(f benchFile, off int64) (int, error)) func(b *testing.B) {
		return func(b *testing.B) {
			f, err := open()
			must.Do(b, err)
			defer f.Close()
			const pieces = 20_000
			for b.Loop() {
				for range pieces { // without must, which takes a tenth as long as a piece
					if _, err := do(f, rand.Int64N(largeSize/smallPiece)*smallPiece); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pieces), "ns/piece")
		}
	}
	b.Run("write", sequential(func(f benchFile) (int, error) { return f.Write(p) }))
	b.Run("read", sequential(func(f benchFile) (int, error) { return io.ReadFull(f, p) }))
	b.Run("read at", random(func(f benchFile, off int64) (int, error) { return f.ReadAt(p[:smallPiece], off) }))
	b.Run("write at", random(func(f benchFile, off int64) (int, error) { return f.WriteAt(p[:smallPiece], off) }))
}

// BenchmarkRemoveLarge removes a file of 1 GiB, and cuts one off to no bytes, on a volume and on
// the system. A volume is closed within the measured time, as it then removes the content.
//
//	go test ./internal/volumetest -run '^$' -bench RemoveLarge -benchtime 3x
func BenchmarkRemoveLarge(b *testing.B) {
	d, err := os.MkdirTemp(*benchDir, "folio")
	must.Do(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(d) })
	path, file := filepath.Join(d, "v.folio"), filepath.Join(d, "large")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(b, err)
	b.Cleanup(func() { must.Do(b, v.Close()) })
	reopen := func() {
		v, err = folio.Open(path, nil)
		must.Do(b, err)
	}
	for _, c := range []struct {
		name        string
		open        func() (benchFile, error)
		remove, end func()
	}{
		{
			"folio/remove", func() (benchFile, error) { return v.Create("large") },
			func() { must.Do(b, v.Remove("large")); must.Do(b, v.Close()) }, reopen,
		},
		{
			"folio/truncate", func() (benchFile, error) { return v.Create("large") },
			func() {
				f, err := v.OpenFile("large", os.O_WRONLY|os.O_TRUNC, 0)
				must.Do(b, err)
				must.Do(b, f.Close())
				must.Do(b, v.Close())
			}, reopen,
		},
		{"system/remove", func() (benchFile, error) { return os.Create(file) }, func() { must.Do(b, os.Remove(file)) }, func() {}},
		{"system/truncate", func() (benchFile, error) { return os.Create(file) }, func() { must.Do(b, os.Truncate(file, 0)) }, func() {}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				f, err := c.open()
				must.Do(b, err)
				writeLarge(b, f)
				must.Do(b, v.Sync(b.Context()))
				b.StartTimer()
				c.remove()
				b.StopTimer()
				c.end()
				b.StartTimer()
			}
		})
	}
}

// writeLarge fills a file and closes it, once it is on disk.
func writeLarge(b *testing.B, f benchFile) {
	b.Helper()
	p := make([]byte, largePiece)
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	for range largeSize / largePiece {
		_, err := f.Write(p)
		must.Do(b, err)
	}
	must.Do(b, f.(interface{ Sync() error }).Sync())
	must.Do(b, f.Close())
}

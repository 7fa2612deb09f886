package volumetest

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// The benchmarks have the operating system and a volume side by side, with the same calls on the
// same tree:
//
//	go test ./internal/volumetest -run - -bench . -count 10 | tee new.txt
//	go tool -modfile=tools/go.mod benchstat -col /fs new.txt
//
// fs=uncached is the volume without caches, as in a program that looks at each file once. The
// answers are compared before the measurement, and everything is done twice, so that caches are
// full.

var osMillion = flag.Bool("os-million", false, "walk a million files of the operating system too; takes minutes to make them")

// A pair is one tree in both forms.
type pair struct {
	os, folio, uncached fs.FS // os is nil where making it would take too long
	entries             int   // in the tree, the root included
}

// newPair imports dir, and checks that both are the same.
func newPair(b *testing.B, dir string) pair {
	b.Helper()
	path := filepath.Join(b.TempDir(), "test.folio")
	must.Do(b, folio.ImportFS(context.Background(), path, os.DirFS(dir), nil))
	p := openPair(b, path)
	p.os = os.DirFS(dir)
	want, got := walkAll(b, p.os), walkAll(b, p.folio)
	if !slices.Equal(got, want) {
		b.Fatalf("%d names in the volume, want %d", len(got), len(want))
	}
	return p
}

// openPair opens a volume in both ways.
func openPair(b *testing.B, path string) pair {
	b.Helper()
	uncached, err := folio.Open(path, &folio.Options{CacheSize: -1})
	must.Do(b, err)
	b.Cleanup(func() { must.Do(b, uncached.Close()) })
	p := pair{folio: Open(b, path).FS(), uncached: uncached.FS()}
	p.entries = len(walkAll(b, p.folio))
	return p
}

func walkAll(b *testing.B, fsys fs.FS) (names []string) {
	b.Helper()
	must.Do(b, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		names = append(names, name+d.Type().String())
		return err
	}))
	return names
}

// all runs fn for each file system. fn does something n times an iteration.
func (p pair) all(b *testing.B, n int, fn func(b *testing.B, fsys fs.FS)) {
	for i, fsys := range []fs.FS{p.os, p.folio, p.uncached} {
		if fsys == nil {
			continue
		}
		b.Run([]string{"fs=os", "fs=folio", "fs=uncached"}[i], func(b *testing.B) {
			fn(b, fsys)
			fn(b, fsys)
			b.ReportAllocs()
			for b.Loop() {
				fn(b, fsys)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/each")
		})
	}
}

// BenchmarkWalk walks trees with fs.WalkDir and a function that does nothing. ns/each is the cost
// of an entry.
func BenchmarkWalk(b *testing.B) {
	three := b.TempDir()
	for _, d := range []string{"one", "two", "three"} {
		must.Do(b, os.MkdirAll(filepath.Join(three, "foo", d), 0o755))
		must.Do(b, os.WriteFile(filepath.Join(three, "foo", d, "bar.txt"), []byte("bar"), 0o644))
	}
	b.Run("tree=three", func(b *testing.B) { benchmarkWalk(b, newPair(b, three)) })
	b.Run("tree=goroot", func(b *testing.B) { benchmarkWalk(b, newPair(b, Goroot(b, "."))) })
	b.Run("tree=10k", func(b *testing.B) { benchmarkWalk(b, generated(b, 10_000, true)) })
	b.Run("tree=1M", func(b *testing.B) { benchmarkWalk(b, generated(b, 1_000_000, *osMillion)) })
}

func benchmarkWalk(b *testing.B, p pair) {
	p.all(b, p.entries, func(b *testing.B, fsys fs.FS) {
		n := 0
		err := fs.WalkDir(fsys, ".", func(_ string, _ fs.DirEntry, err error) error {
			n++
			return err
		})
		if err != nil || n != p.entries {
			b.Fatalf("%d entries, want %d: %v", n, p.entries, err)
		}
	})
}

// generated makes a tree of n files, 100 in each directory, and 100 directories in one.
func generated(b *testing.B, n int, withOS bool) pair {
	b.Helper()
	if withOS {
		dir := b.TempDir()
		for i := range n {
			name := filepath.Join(dir, filepath.FromSlash(generatedName(i)))
			if i%100 == 0 {
				must.Do(b, os.MkdirAll(filepath.Dir(name), 0o755))
			}
			must.Do(b, os.WriteFile(name, []byte(name), 0o644))
		}
		return newPair(b, dir)
	}
	volume := filepath.Join(b.TempDir(), "generated.folio")
	must.Do(b, folio.Create(context.Background(), volume, nil, func(t *folio.Builder) error {
		for i := range n {
			name := generatedName(i)
			if err := t.AddBytes(&folio.Header{Name: name, Mode: 0o644}, []byte(name)); err != nil {
				return err
			}
		}
		return nil
	}))
	return openPair(b, volume)
}

func generatedName(i int) string {
	return path.Join(fmt.Sprintf("part-%03d", i/10_000), fmt.Sprintf("dir-%03d", i/100%100), fmt.Sprintf("file-%07d.txt", i))
}

// BenchmarkReadDir reads every directory of the Go distribution in a random order. ns/each is the
// cost of a directory.
func BenchmarkReadDir(b *testing.B) {
	p := newPair(b, Goroot(b, "."))
	dirs := shuffled(b, p.folio, func(d fs.DirEntry) bool { return d.IsDir() })
	p.all(b, len(dirs), func(b *testing.B, fsys fs.FS) {
		entries := 0
		for _, name := range dirs {
			list, err := fs.ReadDir(fsys, name)
			if err != nil {
				b.Fatal(err)
			}
			entries += len(list)
		}
		if entries != p.entries-1 {
			b.Fatalf("%d entries, want %d", entries, p.entries-1)
		}
	})
}

// shuffled returns the names of a tree that are wanted, in a random order that is always the same.
func shuffled(b *testing.B, fsys fs.FS, wanted func(d fs.DirEntry) bool) (names []string) {
	b.Helper()
	must.Do(b, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && wanted(d) {
			names = append(names, name)
		}
		return err
	}))
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// BenchmarkStat looks at one file again and again, and at every file of the Go distribution in a
// random order.
func BenchmarkStat(b *testing.B) {
	p := newPair(b, Goroot(b, "."))
	all := shuffled(b, p.folio, func(fs.DirEntry) bool { return true })
	for name, paths := range map[string][]string{"one": {"src/net/http/server.go"}, "all": all} {
		b.Run("files="+name, func(b *testing.B) {
			var sizes [2]int64
			for i, fsys := range []fs.FS{p.os, p.folio} {
				sizes[i] = statAll(b, fsys, paths)
			}
			if sizes[0] != sizes[1] {
				b.Fatalf("%d bytes in the volume, want %d", sizes[1], sizes[0])
			}
			p.all(b, len(paths), func(b *testing.B, fsys fs.FS) {
				if got := statAll(b, fsys, paths); got != sizes[0] {
					b.Fatalf("%d bytes, want %d", got, sizes[0])
				}
			})
		})
	}
}

// statAll returns how large the files are together.
func statAll(b *testing.B, fsys fs.FS, paths []string) (size int64) {
	for _, name := range paths {
		info, err := fs.Stat(fsys, name)
		if err != nil {
			b.Fatal(err)
		}
		if !info.IsDir() {
			size += info.Size()
		}
	}
	return size
}

// BenchmarkReadFile reads every file of GOROOT/src whole, in the order of a walk and in a random
// one. ns/each is the cost of a file.
func BenchmarkReadFile(b *testing.B) {
	p := newPair(b, Goroot(b, "src"))
	random := shuffled(b, p.folio, func(d fs.DirEntry) bool { return d.Type().IsRegular() })
	inOrder := slices.Sorted(slices.Values(random))
	for name, paths := range map[string][]string{"walk": inOrder, "random": random} {
		b.Run("order="+name, func(b *testing.B) {
			want := readAllFiles(b, p.os, paths)
			if got := readAllFiles(b, p.folio, paths); got != want {
				b.Fatal("other contents in the volume")
			}
			p.all(b, len(paths), func(b *testing.B, fsys fs.FS) {
				b.SetBytes(want.bytes)
				if got := readAllFiles(b, fsys, paths); got != want {
					b.Fatal("other contents")
				}
			})
		})
	}
}

// contents sums up the bytes that were read. The copy touches every byte once; this looks at a few
// of each file.
type contents struct{ bytes, sample int64 }

func readAllFiles(b *testing.B, fsys fs.FS, paths []string) (c contents) {
	for _, name := range paths {
		p, err := fs.ReadFile(fsys, name)
		if err != nil {
			b.Fatal(err)
		}
		c.bytes += int64(len(p))
		for i := 0; i < len(p); i += 1 + len(p)/4 {
			c.sample = c.sample*31 + int64(p[i])
		}
	}
	return c
}

// BenchmarkReadAt reads 4 KiB at random places of a file of 128 MiB.
func BenchmarkReadAt(b *testing.B) {
	dir := b.TempDir()
	const size = 128 << 20
	p := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(p)
	must.Do(b, os.WriteFile(filepath.Join(dir, "large"), p, 0o644))
	r := rand.New(rand.NewPCG(3, 4))
	newPair(b, dir).all(b, 1, func(b *testing.B, fsys fs.FS) {
		benchmarkReadAt(b, fsys, r.Int64N(size-4096), p)
	})
}

func benchmarkReadAt(b *testing.B, fsys fs.FS, off int64, want []byte) {
	f, err := fsys.Open("large")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var p [4096]byte
	if _, err := f.(interface {
		ReadAt(p []byte, off int64) (int, error)
	}).ReadAt(p[:], off); err != nil || p[17] != want[off+17] || p[4095] != want[off+4095] {
		b.Fatalf("%v, or other bytes", err)
	}
}

// BenchmarkCreate makes a volume of 100,000 files of 100 bytes. ns/each is the cost of a file.
func BenchmarkCreate(b *testing.B) {
	content := make([]byte, 100)
	const n = 100_000
	for b.Loop() {
		name := filepath.Join(b.TempDir(), "v")
		must.Do(b, folio.Create(context.Background(), name, nil, func(t *folio.Builder) error {
			for i := range n {
				if err := t.AddBytes(&folio.Header{Name: generatedName(i), Mode: 0o644}, content); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/each")
}

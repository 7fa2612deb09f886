package volumetest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// BenchmarkAfterSnapshot writes files of 500 and of 5000 bytes, and 4 KiB into a file of 64 MiB: in
// a volume without snapshots, for the first time after one, and for the second time.
func BenchmarkAfterSnapshot(b *testing.B) {
	const files = 20_000
	content := make([]byte, 5000)
	write := func(b *testing.B, v *folio.Volume, i int) {
		content[0]++
		must.Do(b, v.WriteFile(fmt.Sprintf("d%d/f%d", i/100, i), content, 0o644))
	}
	volume := func(b *testing.B) *folio.Volume {
		v := Empty(b)
		for i := range files {
			if i%100 == 0 {
				must.Do(b, v.Mkdir(fmt.Sprint("d", i/100), 0o755))
			}
			write(b, v, i)
		}
		f, err := v.Create("large")
		must.Do(b, err)
		_, err = f.Write(make([]byte, 64<<20))
		must.Do(b, err)
		must.Do(b, f.Close())
		return v
	}
	for _, of := range []string{"WriteFile500", "WriteFile5000", "WriteAt"} {
		once := func(b *testing.B, v *folio.Volume, f *folio.File, i int) {
			if of != "WriteAt" {
				write(b, v, i)
				return
			}
			_, err := f.WriteAt(content[:4096:4096], int64(i)*65536%(64<<20)+4096)
			must.Do(b, err)
		}
		round := files
		if of == "WriteAt" {
			round = 1024
		}
		for _, state := range []string{"none", "first", "second"} {
			b.Run(of+"/"+state, func(b *testing.B) {
				content = content[:5000]
				if of == "WriteFile500" {
					content = content[:500]
				}
				v := volume(b)
				f, err := v.OpenFile("large", 2, 0)
				must.Do(b, err)
				defer f.Close()
				n := 0
				for b.Loop() {
					if i := n % round; i == 0 && state != "none" {
						b.StopTimer()
						if n > 0 && state == "first" {
							must.Do(b, v.RemoveSnapshot(b.Context(), fmt.Sprint("s", n-round)))
						}
						if n == 0 || state == "first" {
							must.Do(b, v.CreateSnapshot(b.Context(), fmt.Sprint("s", n)))
						}
						if n == 0 && state == "second" {
							for i := range round {
								once(b, v, f, i)
							}
						}
						b.StartTimer()
					}
					once(b, v, f, n%round)
					n++
				}
			})
		}
	}
}

// BenchmarkAtSnapshot reads a volume of 100,000 files, and a snapshot of it after which a tenth of
// them was changed: a walk, Stat and ReadFile of files at random.
func BenchmarkAtSnapshot(b *testing.B) {
	const files = 100_000
	name := func(i int) string { return fmt.Sprintf("d%d/f%d", i/100, i) }
	v := Empty(b)
	must.Do(b, v.Update(b.Context(), func(tx *folio.Tx) error {
		for i := range files {
			if i%100 == 0 {
				must.Do(b, tx.Mkdir(fmt.Sprint("d", i/100), 0o755))
			}
			must.Do(b, tx.WriteFile(name(i), []byte("content of a small file"), 0o644))
		}
		return nil
	}))
	must.Do(b, v.CreateSnapshot(b.Context(), "s"))
	must.Do(b, v.Update(b.Context(), func(tx *folio.Tx) error {
		for i := 0; i < files; i += 10 {
			must.Do(b, tx.WriteFile(name(i), []byte("changed"), 0o644))
		}
		return nil
	}))
	at, err := v.OpenSnapshot(b.Context(), "s")
	must.Do(b, err)
	defer at.Close()
	for _, of := range []struct {
		what string
		call func(v *folio.Volume, i int) error
	}{
		{"Walk", func(v *folio.Volume, _ int) error {
			return fs.WalkDir(v.FS(), ".", func(_ string, _ fs.DirEntry, err error) error { return err })
		}},
		{"Stat", func(v *folio.Volume, i int) error { return must.Second(v.Stat(name(i))) }},
		{"ReadFile", func(v *folio.Volume, i int) error { return must.Second(v.ReadFile(name(i))) }},
	} {
		for _, state := range []string{"live", "at"} {
			b.Run(of.what+"/"+state, func(b *testing.B) {
				volume := map[string]*folio.Volume{"live": v, "at": at}[state]
				r := rand.New(rand.NewPCG(1, 1))
				for b.Loop() {
					must.Do(b, of.call(volume, r.IntN(files)))
				}
			})
		}
	}
}

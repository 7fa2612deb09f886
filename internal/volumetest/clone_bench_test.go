package volumetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// BenchmarkClone clones a tree that has the Go distribution twice, and writes into it: to files of
// the clone, and to files of the original. By hand, next to cp -a --reflink of the same tree:
//
//	go test ./internal/volumetest -run '^$' -bench Clone -benchtime 5x
func BenchmarkClone(b *testing.B) {
	v := cloneBenchVolume(b)
	entries := 0
	must.Do(b, fs.WalkDir(v.FS(), "tree", func(string, fs.DirEntry, error) error { entries++; return nil }))
	n := 0
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			n++
			must.Do(b, v.Clone("tree", fmt.Sprint("clone", n)))
		}
		b.ReportMetric(float64(entries), "entries")
	})
	var names []string
	must.Do(b, fs.WalkDir(v.FS(), "tree/a", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && len(names) < 2000 {
			names = append(names, name[len("tree/"):])
		}
		return err
	}))
	for _, dir := range []string{"clone1", "tree"} {
		b.Run("write/"+dir, func(b *testing.B) {
			content, i := make([]byte, 5000), 0
			for b.Loop() {
				must.Do(b, v.WriteFile(filepath.Join(dir, names[i%len(names)]), content, 0o644))
				i++
			}
		})
	}
	b.Run("read/clone", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			must.Do(b, must.Second(v.ReadFile(filepath.Join("clone1", names[i%len(names)]))))
		}
	})
	b.Run("remove", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, v.RemoveAll(fmt.Sprint("clone", n)))
			n--
		}
	})
}

func cloneBenchVolume(b *testing.B) *folio.Volume {
	b.Helper()
	v, err := folio.Open(filepath.Join(b.TempDir(), "test.folio"), &folio.Options{Create: true})
	must.Do(b, err)
	b.Cleanup(func() { _ = v.Close() })
	must.Do(b, v.Mkdir("tree", 0o755))
	for _, name := range []string{"tree/a", "tree/b"} {
		must.Do(b, v.Merge(b.Context(), os.DirFS(Goroot(b, ".")), name, nil))
	}
	return v
}

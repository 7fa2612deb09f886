package bench

import (
	"testing"

	"github.com/foliofs/folio"
)

// BenchmarkOpen opens a volume, looks at one file, and closes it: a volume of a hundredth of the
// files, and one of all of them.
func BenchmarkOpen(b *testing.B) {
	for _, c := range []struct {
		name  string
		files int
	}{{"few", *files / 100}, {"many", *files}} {
		path, name := generated(b, c.files), generatedName(c.files/2)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				v, err := folio.Open(path, nil)
				must(b, err)
				info, err := v.Stat(name)
				must(b, err)
				if info.Size() != 100 {
					b.Fatalf("%d bytes, want 100", info.Size())
				}
				must(b, v.Close())
			}
		})
	}
}

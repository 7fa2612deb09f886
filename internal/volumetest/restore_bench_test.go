package volumetest

import (
	"fmt"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// BenchmarkRestore restores a tree of 15,000 files of which 1,500 were changed, or all removed, or
// none: the whole volume, and its only directory.
func BenchmarkRestore(b *testing.B) {
	const files = 15_000
	name := func(i int) string { return fmt.Sprintf("top/d%d/f%d", i/100, i) }
	for _, of := range []struct {
		what   string
		change func(tx *folio.Tx) error
	}{
		{"changed", func(tx *folio.Tx) error {
			for i := 0; i < files; i += 10 {
				if err := tx.WriteFile(name(i), []byte("changed"), 0o644); err != nil {
					return err
				}
			}
			return nil
		}},
		{"removed", func(tx *folio.Tx) error { return tx.RemoveAll("top") }},
		{"equal", func(*folio.Tx) error { return nil }},
	} {
		for _, top := range []string{".", "top"} {
			b.Run(of.what+"/"+top, func(b *testing.B) {
				v := Empty(b)
				must.Do(b, v.Update(b.Context(), func(tx *folio.Tx) error {
					for i := range files {
						if i%100 == 0 {
							must.Do(b, tx.MkdirAll(fmt.Sprintf("top/d%d", i/100), 0o755))
						}
						must.Do(b, tx.WriteFile(name(i), make([]byte, 1000+i%5000), 0o644))
					}
					return nil
				}))
				for b.Loop() {
					b.StopTimer()
					must.Do(b, v.CreateSnapshot(b.Context(), "s"))
					must.Do(b, v.Update(b.Context(), of.change))
					b.StartTimer()
					_, err := v.Restore(b.Context(), "s", top, nil)
					b.StopTimer()
					must.Do(b, err)
					must.Do(b, v.RemoveSnapshot(b.Context(), "s"))
					b.StartTimer()
				}
			})
		}
	}
}

package archive

import (
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// TestRoundTrip writes a tree as each kind of archive, and reads it again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "archive")
			var lines []string
			err := Create(t.Context(), file, f.format, new(Options), func(to tree.Sink) (err error) {
				lines, err = treetest.Fill(to)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if f.format == Sqlar { // has no entry for the root
				lines = lines[1:]
			}
			src, err := Open(file, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			treetest.WantSample(t, src, lines)
		})
	}
}

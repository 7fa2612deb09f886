package volume

import (
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// TestRoundTrip adds a tree to a volume, and reads it again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	loc := location.Root(filepath.Join(t.TempDir(), "v.folio"))
	loc.Path = "d"
	v, err := folio.Open(loc.Volume, &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var lines []string
	err = v.Update(t.Context(), func(tx *folio.Tx) error {
		a, err := NewAddition(tx, loc, true)
		if err == nil {
			lines, err = treetest.Fill(a)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = v.View(t.Context(), func(rx *folio.Rx) error {
		treetest.WantSample(t, &Source{Loc: loc, Rx: rx}, lines)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var _ tree.Sink = (*Addition)(nil)

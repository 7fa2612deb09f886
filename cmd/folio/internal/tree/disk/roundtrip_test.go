package disk

import (
	"os"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// TestRoundTrip writes a tree to disk, and reads it again.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := NewWriter(root, &WriteOptions{Top: ".", SetTop: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	lines, err := treetest.Fill(w)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantSample(t, openTree(t, dir, nil), lines)
}

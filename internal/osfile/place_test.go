package osfile_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// TestPlaceAndReplace gives names without syncing.
func TestPlaceAndReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	if err := osfile.Place(temporary(t, dir, "first"), name); err != nil {
		t.Fatal(err)
	}
	err := osfile.Place(temporary(t, dir, "second"), name)
	wantPathError(t, err, "rename", name, fs.ErrExist)
	wantContent(t, name, "first")
	if err := osfile.Replace(temporary(t, dir, "third"), name); err != nil {
		t.Fatal(err)
	}
	wantContent(t, name, "third")
	wantFiles(t, dir, "x")
}

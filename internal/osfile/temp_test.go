package osfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

func TestPlaceDurably(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	for i, want := range []error{nil, fs.ErrExist} {
		tmp, err := osfile.CreateTemp(dir, ".x-*.tmp")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmp.WriteAt([]byte("content"), 0); err != nil {
			t.Fatal(err)
		}
		if err := osfile.PlaceDurably(tmp, name); !errors.Is(err, want) {
			t.Errorf("attempt %d: got %v, want %v", i, err, want)
		}
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("left in the directory: %v, %v", names, err)
	}
}

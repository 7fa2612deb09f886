//go:build linux || darwin

package osfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
)

// TestReading looks at a file that is open for reading: its state, its words, and a lock on it.
func TestReading(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	writer := open(t, name)
	if err := writer.Truncate(1 << 16); err != nil {
		t.Fatal(err)
	}
	f, err := osfile.Open(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before, err := f.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.Stamp(); again != before || err != nil {
		t.Errorf("a stamp of a file that did not change: %v, then %v, %v", before, again, err)
	}
	if _, err := writer.WriteAt([]byte{1, 0, 0, 1}, 1<<16); err != nil { // it grows: no clock is needed to tell
		t.Fatal(err)
	}
	if after, err := f.Stamp(); after == before || err != nil {
		t.Errorf("a stamp of a file that changed: %v, %v", after, err)
	}
	w, err := f.MapWords(0, 1<<16)
	if err != nil {
		t.Skip("words of a file:", err)
	}
	defer func() { _ = w.Unmap() }()
	if _, err := writer.WriteAt([]byte{1, 1, 1, 1}, 8); err != nil || w.Shared[2] != 0x01010101 {
		t.Errorf("word %#x, %v", w.Shared[2], err)
	}
	if err := f.Lock(osfile.Shared, 0, 1); err != nil {
		t.Error(err)
	}
	if err := writer.Lock(osfile.Exclusive, 0, 1); !errors.Is(err, osfile.ErrLocked) {
		t.Errorf("a lock on what is read: %v", err)
	}
	if f.Unchanging() {
		t.Error("a file that has just changed is on a disk that never does")
	}
	if err := f.Unwritable(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(name, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := f.Unwritable(); os.Geteuid() != 0 && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file without the right: %v", err)
	}
}

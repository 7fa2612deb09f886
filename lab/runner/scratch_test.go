package runner

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The next process removes the directories of dead processes. Directories of living processes, and
// others, stay.
func TestScratch(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no locks by which the dead are told")
	}
	dir := t.TempDir()
	base := filepath.Join(dir, storesDir)
	dead, other := filepath.Join(base, scratchPrefix+"dead", "store-1"), filepath.Join(base, "folder_paths.db")
	for _, path := range []string{dead, other} {
		if err := os.MkdirAll(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	first, err := NewScratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(dead)); err == nil {
		t.Error("what a dead process left is still there")
	}
	store, err := first.store()
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewScratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{store, other, second.Path} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
	for _, s := range []*Scratch{first, second} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.Path); err == nil {
			t.Errorf("%s is still there", s.Path)
		}
	}
}

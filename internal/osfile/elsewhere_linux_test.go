package osfile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestElsewhere opens a file in a second place, for reading and for writing, and closes it again.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	f, err := Open(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := f.Map(4096) // a map does not count
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR} {
		if f.Elsewhere() {
			t.Fatal("open elsewhere before anybody opened it")
		}
		other, err := os.OpenFile(name, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Elsewhere() {
			t.Skip("no leases on this file system")
		}
		second, err := Open(name, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		other.Close()
		if !f.Elsewhere() {
			t.Errorf("flag %d: a File is not seen", flag)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if f.Elsewhere() {
		t.Error("open elsewhere after everybody closed it")
	}
}

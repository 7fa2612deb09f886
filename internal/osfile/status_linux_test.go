package osfile

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStatus compares a status with the full information of the system.
func TestStatus(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, 12345), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(name, name+"2"); err != nil {
		t.Fatal(err)
	}
	want, err := f.d.fullStatus()
	if err != nil || want.size != 12345 || want.links != 2 || !want.regular || want.id != f.d.id {
		t.Fatalf("%+v, %v", want, err)
	}
	if got, err := f.d.status(); got != want || err != nil {
		t.Errorf("by descriptor: %+v, %v, want %+v", got, err, want)
	}
	if got, err := statusOf(name); got != want || err != nil {
		t.Errorf("by name: %+v, %v, want %+v", got, err, want)
	}
	if _, err := statusOf(name + "3"); err != unix.ENOENT {
		t.Errorf("%v, want ENOENT", err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = f.d.status() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

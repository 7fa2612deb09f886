//go:build unix

package osfile_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A fault in memory that is no Mapping is a bug elsewhere, not ours to excuse.
func TestCatchLetsForeignFaultPass(t *testing.T) {
	t.Parallel()
	memory, err := unix.Mmap(-1, 0, page, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	wantSamePanic(t, func() { copy(make([]byte, 1), memory[5:]) })
}

package volumetest

import (
	"io"
	"io/fs"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/invariant"
)

// TestAllocations limits the allocations of calls that programs make often.
func TestAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("invariants, and the race detector, allocate")
	}
	files := append([]Entry(nil), Samples...)
	for i := range 100 {
		files = append(files, Entry{"many/" + string(rune(0x100+i)), "x", 0o644})
	}
	v := Create(t, AddAll(files...))
	fsys := v.FS()
	info, err := v.Info(t.Context())
	Must(t, err)
	uncached, err := folio.Open(info.Path, &folio.Options{CacheSize: -1})
	Must(t, err)
	defer func() { Must(t, uncached.Close()) }()
	f, err := v.Open("big")
	Must(t, err)
	p := make([]byte, 4096)
	off := int64(0)
	for _, test := range []struct {
		name string
		most float64
		call func() error
	}{
		{"Stat", 1, func() error { _, err := fs.Stat(fsys, "a/b/c.txt"); return err }},                // the FileInfo
		{"Lstat", 1, func() error { _, err := v.Lstat("a/b/c.txt"); return err }},                     // the same
		{"ReadDir, small", 1, func() error { _, err := fs.ReadDir(fsys, "a/b"); return err }},         // the list
		{"ReadDir, large", 3, func() error { _, err := fs.ReadDir(fsys, "many"); return err }},        // and entries and names
		{"ReadFile", 1, func() error { _, err := fs.ReadFile(fsys, "big"); return err }},              // the content
		{"Open", 1, func() error { _, err := v.Open("a/b/c.txt"); return err }},                       // the File
		{"Readlink", 2, func() error { _, err := v.Readlink("to-file"); return err }},                 // the target, twice
		{"ReadAt", 0, func() error { off += 4096; _, err := f.ReadAt(p, off%200_000); return err }},   //
		{"Read", 0, func() error { _, _ = f.Seek(0, io.SeekStart); _, err := f.Read(p); return err }}, //
	} {
		for range 3 { // fill the caches
			Must(t, test.call())
		}
		if got := testing.AllocsPerRun(200, func() { Must(t, test.call()) }); got > test.most {
			t.Errorf("%s allocates %v times, want %v", test.name, got, test.most)
		}
	}
}

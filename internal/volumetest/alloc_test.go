package volumetest

import (
	"io"
	"io/fs"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
)

// TestSnapshotAllocations limits the allocations of calls at a snapshot, of files that were changed
// since and of others: these are as many as in the volume itself.
func TestSnapshotAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("invariants, and the race detector, allocate")
	}
	v := Create(t, AddAll(Samples...))
	must.Do(t, v.WriteFile("a/b/changed", []byte("old"), 0o644))
	must.Do(t, v.CreateSnapshot(t.Context(), "s"))
	must.Do(t, v.WriteFile("a/b/changed", []byte("new"), 0o644))
	must.Do(t, v.WriteFile("a/b/young", nil, 0o644))
	at, err := v.OpenSnapshot(t.Context(), "s")
	must.Do(t, err)
	defer at.Close()
	past := func(call func(tx store.Rx) error) func() error {
		s, err := v.Store(private.Key{}).Features().Snapshotter.At(t.Context(), "s")
		must.Do(t, err)
		return func() error {
			rx, err := s.Begin(t.Context())
			if err != nil {
				return err
			}
			defer rx.End()
			return call(rx)
		}
	}
	dir, err := at.Stat("a/b")
	must.Do(t, err)
	changed, err := at.Stat("a/b/changed")
	must.Do(t, err)
	inode, dirIno := store.Ino(changed.Sys().(*folio.Node).Ino), store.Ino(dir.Sys().(*folio.Node).Ino)
	var l store.Listing
	for _, test := range []struct {
		name string
		most float64
		call func() error
	}{
		{"Stat", 1, func() error { _, err := at.Stat("a/b/c.txt"); return err }},
		{"ReadFile", 1, func() error { _, err := at.ReadFile("a/b/c.txt"); return err }},
		{"Node", 0, past(func(rx store.Rx) error { _, err := rx.Node(dirIno); return err })},
		{"Node, changed", 0, past(func(rx store.Rx) error { _, err := rx.Node(inode); return err })},
		{"Lookup", 0, past(func(rx store.Rx) error { _, err := rx.Lookup(dirIno, "c.txt"); return err })},
		{"List", 0, past(func(rx store.Rx) error { l.Reset(); return rx.List(dirIno, "", 0, &l) })},
		{"List, changed", 0, past(func(rx store.Rx) error { l.Reset(); return rx.List(store.Root, "", 0, &l) })},
	} {
		for range 3 { // fill the caches
			must.Do(t, test.call())
		}
		if got := testing.AllocsPerRun(200, func() { must.Do(t, test.call()) }); got > test.most {
			t.Errorf("%s allocates %v times, want %v", test.name, got, test.most)
		}
	}
}

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
	must.Do(t, err)
	uncached, err := folio.Open(info.Path, &folio.Options{CacheSize: -1})
	must.Do(t, err)
	defer func() { must.Do(t, uncached.Close()) }()
	f, err := v.Open("big")
	must.Do(t, err)
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
			must.Do(t, test.call())
		}
		if got := testing.AllocsPerRun(200, func() { must.Do(t, test.call()) }); got > test.most {
			t.Errorf("%s allocates %v times, want %v", test.name, got, test.most)
		}
	}
}

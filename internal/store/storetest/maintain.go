package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// RunMaintaining checks how the stores that create makes, which must be store.Maintainers, look
// after a volume. Each must be a new one with nothing but the root. open opens a volume at another
// path, after it has written content there, unless that is nil.
func RunMaintaining(t *testing.T, create func(t *testing.T) (store.Store, Opener), open func(t *testing.T, path string, content []byte) store.Store) {
	tests := map[string]func(t *testing.T, s store.Store, m store.Maintainer, again Opener){
		"Compact": testCompact, "CompactPinned": testCompactPinned, "CompactInUse": testCompactInUse, "Repair": testRepair, "Stats": testStats,
		"Backup": func(t *testing.T, s store.Store, m store.Maintainer, _ Opener) { testBackup(t, s, m, open) },
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := create(t)
			t.Cleanup(func() { _ = s.Close() })
			test(t, s, s.Features().Maintainer, again)
		})
	}
}

// addFiles makes files, and removes all but every tenth of them.
func addFiles(t *testing.T, s store.Store) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		for i := range 100 {
			if _, err := addFile(tx, fmt.Sprint("f", i), bytes.Repeat([]byte{byte(i)}, 10_000)); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, s, func(tx store.Tx) error {
		for i := range 100 {
			if i%10 == 0 {
				continue
			}
			if err := removeFile(tx, fmt.Sprint("f", i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkFiles compares the volume with the files of addFiles.
func checkFiles(t *testing.T, s store.Store) {
	t.Helper()
	entries := list(t, begin(t, s), store.Root, "", 0)
	if len(entries) != 10 {
		t.Errorf("%d files", len(entries))
	}
	for _, e := range entries {
		var i int
		_, err := fmt.Sscanf(e.Name, "f%d", &i)
		got, readErr := stored(t, s, e.Ino)
		if err != nil || readErr != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, 10_000)) {
			t.Errorf("%s: %d bytes, %v", e.Name, len(got), readErr)
		}
	}
	checkClean(t, s)
}

func size(t *testing.T, s store.Store) int64 {
	t.Helper()
	info, err := s.Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return info.Size
}

func testCompact(t *testing.T, s store.Store, m store.Maintainer, again Opener) {
	addFiles(t, s)
	before := size(t, s)
	var done, all int64
	progress := func(d, a int64) { done, all = d, a }
	if err := m.Compact(t.Context(), &store.CompactOptions{Progress: progress}); err != nil {
		t.Fatal(err)
	}
	if now := size(t, s); now > before/4 || done > all {
		t.Errorf("%d bytes, before %d; %d of %d done", now, before, done, all)
	}
	if r, err := s.Check(t.Context(), &store.CheckOptions{Progress: progress}); err != nil || !r.OK() || done > all {
		t.Errorf("%v, %+v; %d of %d done", err, r, done, all)
	}
	checkFiles(t, s)
	update(t, s, func(tx store.Tx) error {
		n, err := addFile(tx, "g", nil)
		if n.Ino <= 100 {
			t.Errorf("inode %d is given again", n.Ino)
		}
		return errors.Join(err, removeFile(tx, "g"))
	})
	checkFiles(t, again(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Compact(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// testCompactPinned compacts a volume while a pinned file has no name. Its content must stay.
func testCompactPinned(t *testing.T, s store.Store, m store.Maintainer, again Opener) {
	var n store.Node
	update(t, s, func(tx store.Tx) (err error) {
		n, err = addFile(tx, "held", []byte("content"))
		return err
	})
	if err := s.Pin(n.Ino); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx store.Tx) error { return removeFile(tx, "held") })
	if err := m.Compact(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	other := again(t)
	for _, s := range []store.Store{s, other} {
		if got, err := stored(t, s, n.Ino); string(got) != "content" {
			t.Errorf("while it is held: %q, %v", got, err)
		}
	}
	s.Unpin(n.Ino)
	if _, err := stored(t, other, n.Ino); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Release: %v", err)
	}
	checkClean(t, other)
}

// testCompactInUse compacts a volume that another Store uses: that must fail, or must harm neither.
func testCompactInUse(t *testing.T, s store.Store, m store.Maintainer, again Opener) {
	addFiles(t, s)
	other := again(t)
	rx := begin(t, other)
	err := m.Compact(t.Context(), nil)
	if l := list(t, rx, store.Root, "", 0); len(l) != 10 {
		t.Errorf("%d files, after %v", len(l), err)
	}
	checkFiles(t, s)
}

func testBackup(t *testing.T, s store.Store, m store.Maintainer, open func(t *testing.T, path string, content []byte) store.Store) {
	addFiles(t, s)
	path := filepath.Join(t.TempDir(), "copy")
	var out bytes.Buffer
	if err := m.Backup(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	copied := open(t, path, out.Bytes())
	if err := m.BackupFile(t.Context(), path, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	checkFiles(t, copied)
	path += "-2"
	if err := m.BackupFile(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	var done, all int64
	o := &store.BackupOptions{Replace: true, Progress: func(d, a int64) { done, all = d, a }}
	if err := m.BackupFile(t.Context(), path, o); err != nil || done != all || all == 0 {
		t.Fatalf("%v; %d of %d bytes", err, done, all)
	}
	checkFiles(t, open(t, path, nil))
	full := errors.New("full")
	if err := m.Backup(t.Context(), failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("to what fails: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// testRepair repairs contradictions that a Tx allows. Check must find nothing afterwards.
func testRepair(t *testing.T, s store.Store, m store.Maintainer, _ Opener) {
	var lost store.Node
	update(t, s, func(tx store.Tx) (err error) {
		if lost, err = addFile(tx, "lost", []byte("content")); err == nil {
			err = tx.Unlink(store.Root, "lost")
		}
		n, addErr := addFile(tx, "counted", nil)
		n.Nlink = 1_000_000_000
		return errors.Join(err, addErr, tx.Put(&n), tx.Link(store.Root, store.Entry{Name: "nowhere", Ino: 77, Type: store.File}))
	})
	r, err := m.Repair(t.Context())
	if err != nil || len(r.Repairs) != 3 || !r.OK() {
		t.Fatalf("%v, %+v", err, r)
	}
	checkClean(t, s)
	if got, err := stored(t, s, lost.Ino); string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if r, err := m.Repair(t.Context()); err != nil || len(r.Repairs) != 0 || !r.OK() {
		t.Errorf("a second time: %v, %+v", err, r)
	}
}

func testStats(t *testing.T, s store.Store, m store.Maintainer, _ Opener) {
	before := m.Stats()
	addFiles(t, s)
	if err := s.Pin(store.Root); err != nil {
		t.Fatal(err)
	}
	after := m.Stats()
	if after.Changes < before.Changes+2 || after.Pinned != before.Pinned+1 || after.PageSize == 0 || after.Pages*int64(after.PageSize) != size(t, s) {
		t.Errorf("%+v, before %+v, with %d bytes", after, before, size(t, s))
	}
	s.Unpin(store.Root)
	if g := after.GroupSize(); g < 1 || g > float64(after.Changes) {
		t.Errorf("%v changes to a commit", g)
	}
}

package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/storetest"
)

// TestMaintaining checks how a Store looks after its volume as a whole.
func TestMaintaining(t *testing.T) {
	t.Parallel()
	for name, c := range writingCases {
		t.Run(name, func(t *testing.T) {
			for name, test := range map[string]func(t *testing.T, s store.Store, m store.Maintainer, again storetest.Opener){
				"Compact": testCompact, "CompactPinned": testCompactPinned, "CompactInUse": testCompactInUse, "Repair": testRepair, "Stats": testStats,
				"Backup": func(t *testing.T, s store.Store, m store.Maintainer, _ storetest.Opener) { testBackup(t, s, m, c.open) },
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s, again := c.create(t)
					t.Cleanup(func() { _ = s.Close() })
					test(t, s, s.Features().Maintainer, again)
				})
			}
		})
	}
}

// addTenfold makes files, and removes all but every tenth of them.
func addTenfold(t *testing.T, s store.Store) {
	t.Helper()
	storetest.Update(t, s, func(tx store.Tx) error {
		for i := range 100 {
			if _, err := storetest.AddFile(tx, fmt.Sprint("f", i), bytes.Repeat([]byte{byte(i)}, 10_000)); err != nil {
				return err
			}
		}
		return nil
	})
	storetest.Update(t, s, func(tx store.Tx) error {
		for i := range 100 {
			if i%10 == 0 {
				continue
			}
			if err := storetest.RemoveFile(tx, fmt.Sprint("f", i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// wantKept compares the volume with the files of addTenfold.
func wantKept(t *testing.T, s store.Store) {
	t.Helper()
	entries := storetest.List(t, storetest.Begin(t, s), store.Root, "", 0)
	if len(entries) != 10 {
		t.Errorf("%d files", len(entries))
	}
	for _, e := range entries {
		var i int
		_, err := fmt.Sscanf(e.Name, "f%d", &i)
		got, readErr := storetest.ReadInode(t, s, e.Ino)
		if err != nil || readErr != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, 10_000)) {
			t.Errorf("%s: %d bytes, %v", e.Name, len(got), readErr)
		}
	}
	storetest.WantClean(t, s)
}

func size(t *testing.T, s store.Store) int64 {
	t.Helper()
	info, err := s.Info(context.Background())
	must.Do(t, err)
	return info.Size
}

func testCompact(t *testing.T, s store.Store, m store.Maintainer, again storetest.Opener) {
	addTenfold(t, s)
	before := size(t, s)
	var done, all int64
	progress := func(d, a int64) { done, all = d, a }
	must.Do(t, m.Compact(t.Context(), &store.CompactOptions{Progress: progress}))
	if now := size(t, s); now > before/4 || done > all {
		t.Errorf("%d bytes, before %d; %d of %d done", now, before, done, all)
	}
	if r, err := s.Check(t.Context(), &store.CheckOptions{Progress: progress}); err != nil || !r.OK() || done > all {
		t.Errorf("%v, %+v; %d of %d done", err, r, done, all)
	}
	wantKept(t, s)
	storetest.Update(t, s, func(tx store.Tx) error {
		n, err := storetest.AddFile(tx, "g", nil)
		if n.Ino <= 100 {
			t.Errorf("inode %d is given again", n.Ino)
		}
		return errors.Join(err, storetest.RemoveFile(tx, "g"))
	})
	wantKept(t, again(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Compact(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// testCompactPinned compacts a volume while a pinned file has no name. Its content must stay.
func testCompactPinned(t *testing.T, s store.Store, m store.Maintainer, again storetest.Opener) {
	var n store.Node
	storetest.Update(t, s, func(tx store.Tx) (err error) {
		n, err = storetest.AddFile(tx, "held", []byte("content"))
		return err
	})
	must.Do(t, s.Pin(n.Ino))
	storetest.Update(t, s, func(tx store.Tx) error { return storetest.RemoveFile(tx, "held") })
	must.Do(t, m.Compact(t.Context(), nil))
	other := again(t)
	for _, s := range []store.Store{s, other} {
		if got, err := storetest.ReadInode(t, s, n.Ino); string(got) != "content" {
			t.Errorf("while it is held: %q, %v", got, err)
		}
	}
	s.Unpin(n.Ino)
	if _, err := storetest.ReadInode(t, other, n.Ino); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Release: %v", err)
	}
	storetest.WantClean(t, other)
}

// testCompactInUse compacts a volume that another Store uses: that must fail, or must harm neither.
func testCompactInUse(t *testing.T, s store.Store, m store.Maintainer, again storetest.Opener) {
	addTenfold(t, s)
	other := again(t)
	rx := storetest.Begin(t, other)
	err := m.Compact(t.Context(), nil)
	if l := storetest.List(t, rx, store.Root, "", 0); len(l) != 10 {
		t.Errorf("%d files, after %v", len(l), err)
	}
	wantKept(t, s)
}

func testBackup(t *testing.T, s store.Store, m store.Maintainer, open func(t *testing.T, path string, content []byte) store.Store) {
	addTenfold(t, s)
	path := filepath.Join(t.TempDir(), "copy")
	var out bytes.Buffer
	must.Do(t, m.Backup(t.Context(), &out))
	copied := open(t, path, out.Bytes())
	if err := m.BackupFile(t.Context(), path, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	wantKept(t, copied)
	path += "-2"
	must.Do(t, m.BackupFile(t.Context(), path, nil))
	var done, all int64
	o := &store.BackupOptions{Replace: true, Progress: func(d, a int64) { done, all = d, a }}
	if err := m.BackupFile(t.Context(), path, o); err != nil || done != all || all == 0 {
		t.Fatalf("%v; %d of %d bytes", err, done, all)
	}
	wantKept(t, open(t, path, nil))
	full := errors.New("full")
	if err := m.Backup(t.Context(), failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("to what fails: %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// testRepair repairs contradictions that a Tx allows. Check must find nothing afterwards.
func testRepair(t *testing.T, s store.Store, m store.Maintainer, _ storetest.Opener) {
	var lost store.Node
	storetest.Update(t, s, func(tx store.Tx) (err error) {
		if lost, err = storetest.AddFile(tx, "lost", []byte("content")); err == nil {
			err = tx.Unlink(store.Root, "lost")
		}
		n, addErr := storetest.AddFile(tx, "counted", nil)
		n.Nlink = 1_000_000_000
		return errors.Join(err, addErr, tx.Put(&n), tx.Link(store.Root, store.Entry{Name: "nowhere", Ino: 77, Type: store.File}))
	})
	r, err := m.Repair(t.Context())
	if err != nil || len(r.Repairs) != 3 || !r.OK() {
		t.Fatalf("%v, %+v", err, r)
	}
	storetest.WantClean(t, s)
	if got, err := storetest.ReadInode(t, s, lost.Ino); string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if r, err := m.Repair(t.Context()); err != nil || len(r.Repairs) != 0 || !r.OK() {
		t.Errorf("a second time: %v, %+v", err, r)
	}
}

func testStats(t *testing.T, s store.Store, m store.Maintainer, _ storetest.Opener) {
	before := m.Stats()
	addTenfold(t, s)
	must.Do(t, s.Pin(store.Root))
	after := m.Stats()
	if after.Changes < before.Changes+2 || after.Pinned != before.Pinned+1 || after.PageSize == 0 || after.Pages*int64(after.PageSize) != size(t, s) {
		t.Errorf("%+v, before %+v, with %d bytes", after, before, size(t, s))
	}
	s.Unpin(store.Root)
	if g := after.GroupSize(); g < 1 || g > float64(after.Changes) {
		t.Errorf("%v changes to a commit", g)
	}
}

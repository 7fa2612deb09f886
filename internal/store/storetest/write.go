package storetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/store"
)

// An Opener opens the volume that it made once more, as another process would.
type Opener func(t *testing.T) store.Store

// RunWriting checks how the stores that create makes can be changed. Each must be a new one with
// nothing but the root.
func RunWriting(t *testing.T, create func(t *testing.T) (store.Store, Opener)) {
	tests := map[string]func(t *testing.T, s store.Store, again Opener){
		"Model":    func(t *testing.T, s store.Store, _ Opener) { testModel(t, false, s) },
		"Reopen":   testReopen,
		"Limits":   testLimits,
		"Snapshot": testSnapshot,
		"Adopt":    testAdopt,
		"Orphan":   testOrphan, "OrphanElsewhere": testOrphanElsewhere, "OrphanLeft": testOrphanLeft,
		"OrphanReleased": testOrphanReleased, "OrphansPinned": testOrphansPinned,
		"Numbers": testNumbers, "Failed": testFailed, "Cancelled": testCancelled, "ConcurrentUpdates": testConcurrentUpdates, "TwoWriters": testTwoWriters,
		"Versions": testVersions,
		"Batch":    testBatch, "BatchTogether": testBatchTogether, "Clones": testClones,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := create(t)
			t.Cleanup(func() { _ = s.Close() })
			test(t, s, again)
		})
	}
}

// Update changes a store.
func Update(t *testing.T, s store.Store, fn func(tx store.Tx) error) {
	t.Helper()
	must.Do(t, s.Update(context.Background(), fn))
}

// WantClean ends the test if Check finds a problem.
func WantClean(t *testing.T, s store.Store) {
	t.Helper()
	r, err := s.Check(context.Background(), nil)
	if err != nil || !r.OK() {
		t.Fatalf("Check: %v, %+v", err, r)
	}
}

// AddFile makes a file in the root.
func AddFile(tx store.Tx, name string, content []byte) (store.Node, error) {
	n := store.Node{Mode: store.ModeRegular | 0o600, Nlink: 1}
	err := tx.Insert(&n)
	if err == nil {
		err = tx.WriteAt(&n, content, 0)
	}
	if err == nil {
		err = tx.Put(&n)
	}
	if err == nil {
		err = tx.Link(store.Root, store.Entry{Name: name, Ino: n.Ino, Type: store.File})
	}
	return n, err
}

// RemoveFile takes its only name from a file.
func RemoveFile(tx store.Tx, name string) error {
	e, err := tx.Lookup(store.Root, name)
	if err != nil {
		return err
	}
	n, err := tx.Node(e.Ino)
	if err != nil {
		return err
	}
	return errors.Join(tx.Unlink(store.Root, name), tx.Orphan(&n))
}

// ReadInode returns the content of an inode, or the error of reading it.
func ReadInode(t *testing.T, s store.Store, ino store.Ino) ([]byte, error) {
	t.Helper()
	rx, err := s.Begin(context.Background())
	if err != nil {
		return nil, err
	}
	defer rx.End()
	n, err := rx.Node(ino)
	if err != nil {
		return nil, err
	}
	p := make([]byte, n.Size)
	if len(p) > 0 {
		_, err = rx.ReadAt(n, p, 0)
	}
	return p, err
}

// Exists reports whether there is an inode.
func Exists(t *testing.T, s store.Store, ino store.Ino) bool {
	t.Helper()
	_, err := ReadInode(t, s, ino)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return err == nil
}

func testReopen(t *testing.T, s store.Store, again Opener) {
	var n store.Node
	content := bytes.Repeat([]byte("abc"), 50000)
	Update(t, s, func(tx store.Tx) (err error) {
		n, err = AddFile(tx, "file", content)
		return err
	})
	must.Do(t, s.Sync(context.Background()))
	other := again(t)
	if got, err := ReadInode(t, other, n.Ino); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	must.Do(t, s.Close())
	WantClean(t, other)
	if err := s.Update(context.Background(), func(store.Tx) error { return nil }); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Update after Close: %v", err)
	}
	if err := s.Sync(context.Background()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
}

// testLimits makes changes that no volume can hold. They must fail, and the transaction must go on.
func testLimits(t *testing.T, s store.Store, _ Opener) {
	Update(t, s, func(tx store.Tx) error {
		n, err := AddFile(tx, "file", []byte("content"))
		if err != nil {
			return err
		}
		before := n
		for _, err := range []error{
			tx.WriteAt(&n, []byte("xx"), store.MaxSize-1), tx.WriteAt(&n, []byte("x"), 1<<62), tx.Truncate(&n, store.MaxSize+1),
		} {
			if !errors.Is(err, store.ErrTooLarge) {
				t.Errorf("%v, want ErrTooLarge", err)
			}
		}
		if !errors.Is(tx.WriteAt(&n, nil, -1), fs.ErrInvalid) || !errors.Is(tx.Truncate(&n, -1), fs.ErrInvalid) {
			t.Error("negative offsets are accepted")
		}
		if n != before {
			t.Errorf("%+v, want %+v", n, before)
		}
		if err := tx.WriteAt(&n, []byte("x"), store.MaxSize-1); err != nil || n.Size != store.MaxSize || n.Holes < store.MaxSize-2*store.ChunkSize {
			t.Errorf("the last byte: %v, %+v", err, n)
		}
		if err := tx.Truncate(&n, 3); err != nil || n.Size != 3 || n.Holes != 0 {
			t.Errorf("cut off: %v, %+v", err, n)
		}
		return tx.Put(&n)
	})
	WantClean(t, s)
}

// testSnapshot reads a state while it is replaced. The snapshot must show the old content (S1).
func testSnapshot(t *testing.T, s store.Store, _ Opener) {
	var n store.Node
	Update(t, s, func(tx store.Tx) (err error) {
		n, err = AddFile(tx, "file", []byte("old"))
		return err
	})
	rx := Begin(t, s)
	version := rx.Version()
	Update(t, s, func(tx store.Tx) error {
		if tx.Version() != 0 {
			t.Error("a write transaction has a version")
		}
		return errors.Join(tx.WriteAt(&n, []byte("new"), 0), tx.Put(&n))
	})
	p := make([]byte, 3)
	if _, err := rx.ReadAt(n, p, 0); err != nil || string(p) != "old" {
		t.Errorf("an old snapshot has %q, %v", p, err)
	}
	if now := Begin(t, s); now.Version() == version {
		t.Error("the version stayed")
	}
	if got, err := ReadInode(t, s, n.Ino); string(got) != "new" {
		t.Errorf("a new snapshot has %q, %v", got, err)
	}
}

// testOrphan removes a pinned file. Its content must stay until the last Unpin, and must go then
// (S6).
func testOrphan(t *testing.T, s store.Store, _ Opener) {
	var n store.Node
	Update(t, s, func(tx store.Tx) (err error) {
		n, err = AddFile(tx, "file", []byte("content"))
		return err
	})
	for range 2 {
		must.Do(t, s.Pin(n.Ino))
	}
	Update(t, s, func(tx store.Tx) error { return RemoveFile(tx, "file") })
	for range 300 { // enough to let the store clean up
		Update(t, s, func(tx store.Tx) error {
			_, err := AddFile(tx, "other", []byte("other"))
			return errors.Join(err, RemoveFile(tx, "other"))
		})
	}
	s.Unpin(n.Ino)
	if got, err := ReadInode(t, s, n.Ino); string(got) != "content" {
		t.Errorf("while it is held: %q, %v", got, err)
	}
	WantClean(t, s)
	s.Unpin(n.Ino)
	if Exists(t, s, n.Ino) {
		t.Error("after the last Release, the file is still there")
	}
	WantClean(t, s)
}

// testAdopt makes two files without a name, and gives one of them a name later. The other must
// disappear.
func testAdopt(t *testing.T, s store.Store, again Opener) {
	var kept, lost store.Node
	for _, n := range []*store.Node{&kept, &lost} {
		Update(t, s, func(tx store.Tx) (err error) {
			*n = store.Node{Mode: store.ModeRegular | 0o600, Nlink: 1}
			err = errors.Join(tx.Insert(n), tx.WriteAt(n, []byte("content"), 0), tx.Orphan(n))
			return errors.Join(err, s.Pin(n.Ino))
		})
	}
	Update(t, s, func(tx store.Tx) error {
		kept.Nlink = 1
		return errors.Join(tx.Adopt(&kept), tx.Link(store.Root, store.Entry{Name: "kept", Ino: kept.Ino, Type: store.File}))
	})
	s.Unpin(kept.Ino)
	s.Unpin(lost.Ino)
	if got, err := ReadInode(t, s, kept.Ino); string(got) != "content" {
		t.Errorf("adopted: %q, %v", got, err)
	}
	must.Do(t, s.Close())
	other := again(t)
	if got, err := ReadInode(t, other, kept.Ino); string(got) != "content" {
		t.Errorf("adopted, after Open: %q, %v", got, err)
	}
	if Exists(t, other, lost.Ino) {
		t.Error("not adopted, the file is still there")
	}
	WantClean(t, other)
}

// testOrphanElsewhere removes a file that another Store has pinned. Its content must stay until
// that Store unpins it.
func testOrphanElsewhere(t *testing.T, s store.Store, again Opener) {
	var n store.Node
	Update(t, s, func(tx store.Tx) (err error) {
		n, err = AddFile(tx, "file", []byte("content"))
		return err
	})
	other := again(t)
	must.Do(t, other.Pin(n.Ino))
	Update(t, s, func(tx store.Tx) error { return RemoveFile(tx, "file") })
	must.Do(t, s.Close())
	third := again(t)
	for _, s := range []store.Store{third, other} {
		if got, err := ReadInode(t, s, n.Ino); string(got) != "content" {
			t.Errorf("while it is held: %q, %v", got, err)
		}
	}
	other.Unpin(n.Ino)
	if Exists(t, other, n.Ino) {
		t.Error("after Release, the file is still there")
	}
	WantClean(t, third)
}

// testOrphanLeft opens a volume that a process left with an open file that has no name. The file
// must be removed.
func testOrphanLeft(t *testing.T, s store.Store, again Opener) {
	var n store.Node
	Update(t, s, func(tx store.Tx) (err error) {
		n, err = AddFile(tx, "file", bytes.Repeat([]byte("content"), 100000))
		return errors.Join(err, tx.SetXattr(n.Ino, "user.a", []byte("value")))
	})
	must.Do(t, s.Pin(n.Ino))
	Update(t, s, func(tx store.Tx) error { return RemoveFile(tx, "file") })
	must.Do(t, s.Close())
	other := again(t)
	if Exists(t, other, n.Ino) {
		t.Error("after Open, the file is still there")
	}
	r, err := other.Check(context.Background(), nil)
	if err != nil || !r.OK() || r.Nodes != 1 || r.Chunks != 0 || r.Xattrs != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// testOrphanReleased gives up a file that has no name within a transaction, which Release must not
// wait for.
func testOrphanReleased(t *testing.T, s store.Store, _ Opener) {
	for _, failure := range []error{nil, errors.New("on purpose")} {
		var n store.Node
		Update(t, s, func(tx store.Tx) (err error) {
			n, err = AddFile(tx, "file", []byte("content"))
			return errors.Join(err, s.Pin(n.Ino))
		})
		Update(t, s, func(tx store.Tx) error { return RemoveFile(tx, "file") })
		err := s.Update(context.Background(), func(store.Tx) error {
			s.Unpin(n.Ino)
			return failure
		})
		if !errors.Is(err, failure) {
			t.Error(err)
		}
		if Exists(t, s, n.Ino) {
			t.Error("after the transaction, the file is still there")
		}
	}
	WantClean(t, s)
}

// testOrphansPinned removes many files that are pinned. The cost of unpinning one must not depend
// on how many there are.
func testOrphansPinned(t *testing.T, s store.Store, _ Opener) {
	files := 6000
	if testing.Short() {
		files = 1000
	}
	var held []store.Ino
	Update(t, s, func(tx store.Tx) error {
		for i := range files {
			n, err := AddFile(tx, fmt.Sprint(i), nil)
			if err := errors.Join(err, s.Pin(n.Ino)); err != nil {
				return err
			}
			held = append(held, n.Ino)
		}
		return nil
	})
	Update(t, s, func(tx store.Tx) error {
		for i := range files {
			if err := RemoveFile(tx, fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return nil
	})
	random.New(t).Shuffle(files, func(i, j int) { held[i], held[j] = held[j], held[i] })
	for _, ino := range held {
		s.Unpin(ino)
	}
	r, err := s.Check(context.Background(), nil)
	if err != nil || !r.OK() || r.Nodes != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// testNumbers removes the last file again and again: its number must not be given again, not even
// by another process.
func testNumbers(t *testing.T, s store.Store, again Opener) {
	last := store.Root
	for range 4 {
		for range 3 {
			Update(t, s, func(tx store.Tx) error {
				n, err := AddFile(tx, "file", []byte("content"))
				if n.Ino <= last {
					t.Errorf("inode %d after %d", n.Ino, last)
				}
				last = n.Ino
				return err
			})
			Update(t, s, func(tx store.Tx) error { return RemoveFile(tx, "file") })
		}
		must.Do(t, s.Close())
		s = again(t)
	}
	WantClean(t, s)
}

// testFailed goes on after an error: the changes must not be committed.
func testFailed(t *testing.T, s store.Store, _ Opener) {
	err := s.Update(context.Background(), func(tx store.Tx) error {
		if _, err := AddFile(tx, "file", []byte("content")); err != nil {
			return err
		}
		if err := tx.Link(store.Root, store.Entry{Name: "a/b", Ino: 1, Type: store.Dir}); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("an impossible name: %v", err)
		}
		return nil
	})
	if !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("committed, with %v", err)
	}
	if l := List(t, Begin(t, s), store.Root, "", 0); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
}

// testCancelled cancels a transaction from within.
func testCancelled(t *testing.T, s store.Store, _ Opener) {
	ctx, cancel := context.WithCancel(context.Background())
	err := s.Update(ctx, func(tx store.Tx) error {
		cancel()
		_, err := AddFile(tx, "file", []byte("content"))
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if l := List(t, Begin(t, s), store.Root, "", 0); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
}

func testConcurrentUpdates(t *testing.T, s store.Store, _ Opener) {
	const goroutines, each = 8, 25
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				err := s.Update(context.Background(), func(tx store.Tx) error {
					_, err := AddFile(tx, fmt.Sprint(g, "-", i), []byte("content"))
					return err
				})
				if err == nil && i%5 == 0 {
					err = s.Sync(context.Background())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if l := List(t, Begin(t, s), store.Root, "", 0); len(l) != goroutines*each {
		t.Errorf("%d files", len(l))
	}
	WantClean(t, s)
}

// testTwoWriters writes through two stores in turn. Each of them must see the changes of the other.
func testTwoWriters(t *testing.T, s store.Store, again Opener) {
	stores := [2]store.Store{s, again(t)}
	for i := range 60 {
		Update(t, stores[i%2], func(tx store.Tx) error {
			if i > 1 {
				if err := RemoveFile(tx, fmt.Sprint(i-2)); err != nil {
					return err
				}
			}
			_, err := AddFile(tx, fmt.Sprint(i), []byte("content"))
			return err
		})
	}
	for _, s := range stores {
		if l := List(t, Begin(t, s), store.Root, "", 0); len(l) != 2 || l[0].Name != "58" || l[1].Name != "59" {
			t.Errorf("%v", l)
		}
		WantClean(t, s)
	}
}

// testVersions reads while another goroutine commits: equal versions must read the same.
func testVersions(t *testing.T, s store.Store, _ Opener) {
	const readers, commits = 3, 1500
	r := random.New(t)
	var done sync.WaitGroup
	stop, read := make(chan struct{}), make(chan struct{}, readers)
	var mu sync.Mutex // guards known
	known := make(map[uint64]uint64)
	for range readers {
		done.Go(func() {
			for {
				version, n, err := versionOf(s)
				mu.Lock()
				if before, ok := known[version]; err != nil || ok && before != n {
					t.Errorf("version %d reads %d, and %d before; %v", version, n, before, err)
				}
				known[version] = n
				mu.Unlock()
				select {
				case <-stop:
					return
				case read <- struct{}{}:
				}
			}
		})
	}
	for i := range commits {
		for range r.IntN(2 * readers) { // so that now and then a commit comes while readers begin
			<-read
		}
		Update(t, s, func(tx store.Tx) error {
			return tx.SetXattr(store.Root, "user.n", binary.BigEndian.AppendUint64(nil, uint64(i+1)))
		})
	}
	close(stop)
	done.Wait()
	if version, n, err := versionOf(s); err != nil || n != commits {
		t.Errorf("version %d: %d, %v", version, n, err)
	}
}

// versionOf returns the version of a transaction, and how many commits it sees.
func versionOf(s store.Store) (version, n uint64, err error) {
	rx, err := s.Begin(context.Background())
	if err != nil {
		return 0, 0, err
	}
	defer rx.End()
	list, err := rx.Xattrs(store.Root)
	if err == nil && len(list) > 0 {
		n = binary.BigEndian.Uint64(list[0].Value)
	}
	return rx.Version(), n, err
}

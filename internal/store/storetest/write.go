package storetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// Transactions is how many random ones RunWriting makes.
var Transactions = 60

var seed = flag.Uint64("storetest.seed", 0, "of random tests of stores; 0 means a new one")

func random(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-storetest.seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// An Opener opens the volume that it made once more, as another process would.
type Opener func(t *testing.T) store.Store

// RunWriting checks how the stores that create makes can be changed. Each must be a new one with
// nothing but the root.
func RunWriting(t *testing.T, create func(t *testing.T) (store.Store, Opener)) {
	tests := map[string]func(t *testing.T, s store.Store, again Opener){
		"Model":    func(t *testing.T, s store.Store, _ Opener) { testModel(t, s) },
		"Reopen":   testReopen,
		"Limits":   testLimits,
		"Snapshot": testSnapshot,
		"Adopt":    testAdopt,
		"Orphan":   testOrphan, "OrphanElsewhere": testOrphanElsewhere, "OrphanLeft": testOrphanLeft,
		"OrphanReleased": testOrphanReleased, "OrphansPinned": testOrphansPinned,
		"Numbers": testNumbers, "Failed": testFailed, "Cancelled": testCancelled, "ConcurrentUpdates": testConcurrentUpdates, "TwoWriters": testTwoWriters,
		"Batch": testBatch, "BatchTogether": testBatchTogether, "Holes": testHoles, "Clones": testClones,
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

func update(t *testing.T, s store.Store, fn func(tx store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func checkClean(t *testing.T, s store.Store) {
	t.Helper()
	r, err := s.Check(context.Background(), nil)
	if err != nil || !r.OK() {
		t.Fatalf("Check: %v, %+v", err, r)
	}
}

// addFile makes a file in the root.
func addFile(tx store.Tx, name string, content []byte) (store.Node, error) {
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

// removeFile takes its only name from a file.
func removeFile(tx store.Tx, name string) error {
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

// stored returns the content of an inode, or the error of reading it.
func stored(t *testing.T, s store.Store, ino store.Ino) ([]byte, error) {
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

func testReopen(t *testing.T, s store.Store, again Opener) {
	var n store.Node
	content := bytes.Repeat([]byte("abc"), 50000)
	update(t, s, func(tx store.Tx) (err error) {
		n, err = addFile(tx, "file", content)
		return err
	})
	if err := s.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	other := again(t)
	if got, err := stored(t, other, n.Ino); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkClean(t, other)
	if err := s.Update(context.Background(), func(store.Tx) error { return nil }); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Update after Close: %v", err)
	}
	if err := s.Sync(context.Background()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
}

// testLimits makes changes that no volume can hold. They must fail, and the transaction must go on.
func testLimits(t *testing.T, s store.Store, _ Opener) {
	update(t, s, func(tx store.Tx) error {
		n, err := addFile(tx, "file", []byte("content"))
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
	checkClean(t, s)
}

// testSnapshot reads a state while it is replaced. The snapshot must show the old content (S1).
func testSnapshot(t *testing.T, s store.Store, _ Opener) {
	var n store.Node
	update(t, s, func(tx store.Tx) (err error) {
		n, err = addFile(tx, "file", []byte("old"))
		return err
	})
	rx := begin(t, s)
	version := rx.Version()
	update(t, s, func(tx store.Tx) error {
		if tx.Version() != 0 {
			t.Error("a write transaction has a version")
		}
		return errors.Join(tx.WriteAt(&n, []byte("new"), 0), tx.Put(&n))
	})
	p := make([]byte, 3)
	if _, err := rx.ReadAt(n, p, 0); err != nil || string(p) != "old" {
		t.Errorf("an old snapshot has %q, %v", p, err)
	}
	if now := begin(t, s); now.Version() == version {
		t.Error("the version stayed")
	}
	if got, err := stored(t, s, n.Ino); string(got) != "new" {
		t.Errorf("a new snapshot has %q, %v", got, err)
	}
}

// testOrphan removes a pinned file. Its content must stay until the last Unpin, and must go then
// (S6).
func testOrphan(t *testing.T, s store.Store, _ Opener) {
	var n store.Node
	update(t, s, func(tx store.Tx) (err error) {
		n, err = addFile(tx, "file", []byte("content"))
		return err
	})
	for range 2 {
		if err := s.Pin(n.Ino); err != nil {
			t.Fatal(err)
		}
	}
	update(t, s, func(tx store.Tx) error { return removeFile(tx, "file") })
	for range 300 { // enough to let the store clean up
		update(t, s, func(tx store.Tx) error {
			_, err := addFile(tx, "other", []byte("other"))
			return errors.Join(err, removeFile(tx, "other"))
		})
	}
	s.Unpin(n.Ino)
	if got, err := stored(t, s, n.Ino); string(got) != "content" {
		t.Errorf("while it is held: %q, %v", got, err)
	}
	checkClean(t, s)
	s.Unpin(n.Ino)
	if _, err := stored(t, s, n.Ino); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the last Release: %v", err)
	}
	checkClean(t, s)
}

// testAdopt makes two files without a name, and gives one of them a name later. The other must
// disappear.
func testAdopt(t *testing.T, s store.Store, again Opener) {
	var kept, lost store.Node
	for _, n := range []*store.Node{&kept, &lost} {
		update(t, s, func(tx store.Tx) (err error) {
			*n = store.Node{Mode: store.ModeRegular | 0o600, Nlink: 1}
			err = errors.Join(tx.Insert(n), tx.WriteAt(n, []byte("content"), 0), tx.Orphan(n))
			return errors.Join(err, s.Pin(n.Ino))
		})
	}
	update(t, s, func(tx store.Tx) error {
		kept.Nlink = 1
		return errors.Join(tx.Adopt(&kept), tx.Link(store.Root, store.Entry{Name: "kept", Ino: kept.Ino, Type: store.File}))
	})
	s.Unpin(kept.Ino)
	s.Unpin(lost.Ino)
	if got, err := stored(t, s, kept.Ino); string(got) != "content" {
		t.Errorf("adopted: %q, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := again(t)
	if got, err := stored(t, other, kept.Ino); string(got) != "content" {
		t.Errorf("adopted, after Open: %q, %v", got, err)
	}
	if _, err := stored(t, other, lost.Ino); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not adopted: %v", err)
	}
	checkClean(t, other)
}

// testOrphanElsewhere removes a file that another Store has pinned. Its content must stay until
// that Store unpins it.
func testOrphanElsewhere(t *testing.T, s store.Store, again Opener) {
	var n store.Node
	update(t, s, func(tx store.Tx) (err error) {
		n, err = addFile(tx, "file", []byte("content"))
		return err
	})
	other := again(t)
	if err := other.Pin(n.Ino); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx store.Tx) error { return removeFile(tx, "file") })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	third := again(t)
	for _, s := range []store.Store{third, other} {
		if got, err := stored(t, s, n.Ino); string(got) != "content" {
			t.Errorf("while it is held: %q, %v", got, err)
		}
	}
	other.Unpin(n.Ino)
	if _, err := stored(t, other, n.Ino); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Release: %v", err)
	}
	checkClean(t, third)
}

// testOrphanLeft opens a volume that a process left with an open file that has no name. The file
// must be removed.
func testOrphanLeft(t *testing.T, s store.Store, again Opener) {
	var n store.Node
	update(t, s, func(tx store.Tx) (err error) {
		n, err = addFile(tx, "file", bytes.Repeat([]byte("content"), 100000))
		return errors.Join(err, tx.SetXattr(n.Ino, "user.a", []byte("value")))
	})
	if err := s.Pin(n.Ino); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx store.Tx) error { return removeFile(tx, "file") })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := again(t)
	if _, err := stored(t, other, n.Ino); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Open: %v", err)
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
		update(t, s, func(tx store.Tx) (err error) {
			n, err = addFile(tx, "file", []byte("content"))
			return errors.Join(err, s.Pin(n.Ino))
		})
		update(t, s, func(tx store.Tx) error { return removeFile(tx, "file") })
		err := s.Update(context.Background(), func(store.Tx) error {
			s.Unpin(n.Ino)
			return failure
		})
		if !errors.Is(err, failure) {
			t.Error(err)
		}
		if _, err := stored(t, s, n.Ino); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the transaction: %v", err)
		}
	}
	checkClean(t, s)
}

// testOrphansPinned removes many files that are pinned. The cost of unpinning one must not depend
// on how many there are.
func testOrphansPinned(t *testing.T, s store.Store, _ Opener) {
	files := 6000
	if testing.Short() {
		files = 1000
	}
	var held []store.Ino
	update(t, s, func(tx store.Tx) error {
		for i := range files {
			n, err := addFile(tx, fmt.Sprint(i), nil)
			if err := errors.Join(err, s.Pin(n.Ino)); err != nil {
				return err
			}
			held = append(held, n.Ino)
		}
		return nil
	})
	update(t, s, func(tx store.Tx) error {
		for i := range files {
			if err := removeFile(tx, fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return nil
	})
	random(t).Shuffle(files, func(i, j int) { held[i], held[j] = held[j], held[i] })
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
			update(t, s, func(tx store.Tx) error {
				n, err := addFile(tx, "file", []byte("content"))
				if n.Ino <= last {
					t.Errorf("inode %d after %d", n.Ino, last)
				}
				last = n.Ino
				return err
			})
			update(t, s, func(tx store.Tx) error { return removeFile(tx, "file") })
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = again(t)
	}
	checkClean(t, s)
}

// testFailed goes on after an error: the changes must not be committed.
func testFailed(t *testing.T, s store.Store, _ Opener) {
	err := s.Update(context.Background(), func(tx store.Tx) error {
		if _, err := addFile(tx, "file", []byte("content")); err != nil {
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
	if l := list(t, begin(t, s), store.Root, "", 0); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
}

// testCancelled cancels a transaction from within.
func testCancelled(t *testing.T, s store.Store, _ Opener) {
	ctx, cancel := context.WithCancel(context.Background())
	err := s.Update(ctx, func(tx store.Tx) error {
		cancel()
		_, err := addFile(tx, "file", []byte("content"))
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if l := list(t, begin(t, s), store.Root, "", 0); len(l) > 0 {
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
					_, err := addFile(tx, fmt.Sprint(g, "-", i), []byte("content"))
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
	if l := list(t, begin(t, s), store.Root, "", 0); len(l) != goroutines*each {
		t.Errorf("%d files", len(l))
	}
	checkClean(t, s)
}

// testTwoWriters writes through two stores in turn. Each of them must see the changes of the other.
func testTwoWriters(t *testing.T, s store.Store, again Opener) {
	stores := [2]store.Store{s, again(t)}
	for i := range 60 {
		update(t, stores[i%2], func(tx store.Tx) error {
			if i > 1 {
				if err := removeFile(tx, fmt.Sprint(i-2)); err != nil {
					return err
				}
			}
			_, err := addFile(tx, fmt.Sprint(i), []byte("content"))
			return err
		})
	}
	for _, s := range stores {
		if l := list(t, begin(t, s), store.Root, "", 0); len(l) != 2 || l[0].Name != "58" || l[1].Name != "59" {
			t.Errorf("%v", l)
		}
		checkClean(t, s)
	}
}

package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/blocked"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/storetest"
	"github.com/foliofs/folio/sqlitefile"
)

func TestStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pageSize int
		plain    bool
	}{"default": {}, "small pages": {pageSize: 512}, "large pages": {pageSize: 65536}, "plain": {plain: true}} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, v *storetest.Volume) store.Store {
				path := filepath.Join(t.TempDir(), "test.folio")
				build(t, path, c.pageSize, v)
				s, err := Open(path, &Options{NoMmap: c.plain})
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

func build(t *testing.T, path string, pageSize int, v *storetest.Volume) {
	t.Helper()
	err := Create(context.Background(), path, &CreateOptions{PageSize: pageSize}, func(b *Builder) error {
		return v.Build(b)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriting(t *testing.T) {
	t.Parallel()
	for name, c := range writingCases {
		t.Run(name, func(t *testing.T) { storetest.RunWriting(t, c.create) })
	}
}

// A writingCase is a way to make and to open a volume that is written to.
type writingCase struct {
	pageSize int
	plain    bool
}

var writingCases = map[string]writingCase{"default": {}, "small pages": {pageSize: 512}, "plain": {plain: true}}

// create makes a volume of nothing but the root.
func (c writingCase) create(t *testing.T) (store.Store, storetest.Opener) {
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, Create(context.Background(), path, &CreateOptions{PageSize: c.pageSize}, func(b *Builder) error {
		return b.Node(&store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2})
	}))
	again := func(t *testing.T) store.Store { return c.open(t, path, nil) }
	return again(t), again
}

func (c writingCase) open(t *testing.T, path string, content []byte) store.Store {
	if content != nil {
		must.Do(t, os.WriteFile(path, content, 0o600))
	}
	s, err := Open(path, &Options{NoMmap: c.plain, BusyTimeout: 100 * time.Millisecond})
	must.Do(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestMarks removes files in all orders: no more than one row of table orphan is left to mark their
// numbers.
func TestMarks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, Create(context.Background(), path, &CreateOptions{}, func(b *Builder) error {
		return b.Node(&store.Node{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2})
	}))
	s, err := Open(path, nil)
	must.Do(t, err)
	defer s.Close()
	for range 50 {
		n := store.Node{Mode: store.ModeRegular, Nlink: 1}
		must.Do(t, s.Update(t.Context(), func(tx store.Tx) error {
			return errors.Join(tx.Insert(&n), s.Pin(n.Ino), tx.Orphan(&n))
		}))
		s.Unpin(n.Ino)
	}
	marks := 0
	must.Do(t, s.db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		orphan, err := rx.Table("orphan")
		for range orphan.All() {
			marks++
		}
		return err
	}))
	if marks != 1 {
		t.Errorf("%d rows", marks)
	}
}

// TestUnpinWaitedFor unpins a file that has no name while another transaction has the turn: once an
// Update begins, which may wait for that, Unpin does not wait for the turn.
func TestUnpinWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	build(t, path, 0, &storetest.Volume{Nodes: []store.Node{{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2}}})
	s, err := Open(path, nil)
	must.Do(t, err)
	defer s.Close()
	n := store.Node{Mode: store.ModeRegular, Nlink: 1}
	must.Do(t, s.Update(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.Insert(&n), s.Pin(n.Ino), tx.Orphan(&n))
	}))
	released := make(chan struct{})
	must.Do(t, s.update(t.Context(), func(*history.Tx) error {
		go func() {
			s.Unpin(n.Ino)
			close(released)
		}()
		blocked.Wait(t, "TestUnpinWaitedFor", "(*Queue).Reap")
		go s.Update(context.Background(), func(store.Tx) error { return nil })
		select {
		case <-released:
		case <-time.After(10 * time.Second):
			t.Error("Unpin waits")
		}
		return nil
	}))
	must.Do(t, s.Close())
	s, err = Open(path, &Options{ReadOnly: true})
	must.Do(t, err)
	defer s.Close()
	if r, err := s.Check(t.Context(), nil); err != nil || r.Nodes != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestBatchMany lets more changes come together than one transaction takes.
func TestBatchMany(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	build(t, path, 0, &storetest.Volume{Nodes: []store.Node{{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2}}})
	s, err := Open(path, nil)
	must.Do(t, err)
	defer s.Close()
	const callers = 1280
	add := func(tx store.Tx) error { return tx.Insert(&store.Node{Mode: store.ModeRegular, Nlink: 1}) }
	var wg, ready sync.WaitGroup
	must.Do(t, s.Update(t.Context(), func(store.Tx) error {
		ready.Add(callers)
		for range callers {
			wg.Go(func() {
				ready.Done()
				if err := s.Batch(add); err != nil {
					t.Error(err)
				}
			})
		}
		ready.Wait()
		runtime.Gosched() // most of them wait by now
		return nil
	}))
	wg.Wait()
	if info, err := s.Info(t.Context()); err != nil || info.LastIno != callers+store.Root {
		t.Errorf("%d inodes were made, want %d; %v", info.LastIno-store.Root, callers, err)
	}
	if n := s.db.Stats().Transactions; n > callers/4 {
		t.Errorf("%d transactions for %d changes", n, callers)
	}
}

// TestBatchTracePanics lets Options.Trace panic at each commit. The caller that commits gets the
// panic, the other callers get an answer, and all changes are there.
func TestBatchTracePanics(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	build(t, path, 0, &storetest.Volume{Nodes: []store.Node{{Ino: store.Root, Mode: store.ModeDir | 0o755, Nlink: 2}}})
	var armed atomic.Bool
	s, err := Open(path, &Options{Trace: func(e sqlitefile.Event) {
		if armed.Load() && e.Kind == sqlitefile.EventCommit {
			panic(e.Kind)
		}
	}})
	must.Do(t, err)
	defer s.Close()
	add := func() (panicked bool) {
		defer func() { panicked = recover() != nil }()
		err := s.Batch(func(tx store.Tx) error { return tx.Insert(&store.Node{Mode: store.ModeRegular, Nlink: 1}) })
		if err != nil && !strings.Contains(err.Error(), "is not known") {
			t.Error(err)
		}
		return false
	}
	const callers, each = 20, 50
	add()
	armed.Store(true)
	var panics atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				if add() {
					panics.Add(1)
				}
			}
		})
	}
	wg.Wait()
	armed.Store(false)
	add()
	if panics.Load() == 0 { // how many share a commit is chance
		t.Error("nothing panicked")
	}
	if info, err := s.Info(t.Context()); err != nil || info.LastIno != callers*each+2+store.Root {
		t.Errorf("%d inodes were made, want %d; %v", info.LastIno-store.Root, callers*each+2, err)
	}
}

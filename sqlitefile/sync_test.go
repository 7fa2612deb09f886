package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/private"
)

// TestSync loses power right after Sync returned: what was committed before is there, whatever the
// durability.
func TestSync(t *testing.T) {
	t.Parallel()
	for _, wal := range []bool{true, false} {
		for _, d := range []Durability{DurabilityNormal, DurabilityOff, DurabilityFull} {
			t.Run(fmt.Sprint(wal, d), func(t *testing.T) {
				t.Parallel()
				system := crashfs.New()
				o := &Options{system: system, Create: true, Durability: d, NoMmap: true}
				db := open(t, "/db", o)
				if wal {
					must.Do(t, db.SetJournalMode(t.Context(), JournalWAL))
				}
				must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
				for i := range 20 {
					must.Do(t, insertOne(db, i))
					if i%5 == 2 {
						must.Do(t, db.Checkpoint(t.Context(), CheckpointMode(i%4)))
					}
					if i%3 != 0 {
						continue
					}
					must.Do(t, db.Sync(t.Context()))
					after := open(t, "/db", &Options{system: system.History().End().None().FS(), NoMmap: true})
					wantCount(t, after, i+1)
				}
			})
		}
	}
}

// TestRequireSync loses power after transactions some of which need a sync, in a database that
// promises none: these are there, and those before them.
func TestRequireSync(t *testing.T) {
	t.Parallel()
	system := crashfs.New()
	db := open(t, "/db", &Options{system: system, Create: true, Durability: DurabilityNormal, JournalMode: JournalWAL, NoMmap: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
	for i := range 9 {
		must.Do(t, db.Update(t.Context(), func(tx *Tx) error {
			if i%3 == 2 {
				tx.Internal(private.Key{}).RequireSync()
			}
			insertInto(t, tx, "t", i)
			return nil
		}))
		if i%3 == 2 {
			after := open(t, "/db", &Options{system: system.History().End().None().FS(), NoMmap: true})
			wantCount(t, after, i+1)
		}
	}
}

func insertOne(db *DB, i int) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert(i)
		}
		return err
	})
}

func wantCount(t *testing.T, db *DB, want int) {
	t.Helper()
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		got := 0
		for _, err := range table.All() {
			if err != nil {
				return err
			}
			got++
		}
		if got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
		return nil
	})
}

// countingSystem counts syncs.
type countingSystem struct {
	osfile.System
	syncs atomic.Int64
}

type countingHandle struct {
	osfile.Handle
	syncs *atomic.Int64
}

func (s *countingSystem) Open(name string, flag int, perm fs.FileMode) (osfile.Handle, error) {
	h, err := s.System.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &countingHandle{h, &s.syncs}, nil
}

func (s *countingSystem) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	h, err := s.System.OpenSide(db, suffix, flag)
	if err != nil {
		return nil, err
	}
	return &countingHandle{h, &s.syncs}, nil
}

func (h *countingHandle) Sync() error {
	h.syncs.Add(1)
	time.Sleep(time.Millisecond) // as a disk does: files of tests may lie in memory
	return h.Handle.Sync()
}

// TestSyncShared lets many goroutines commit and sync: each finds its commit on disk, and they need
// far fewer syncs than there are calls.
func TestSyncShared(t *testing.T) {
	t.Parallel()
	system := &countingSystem{System: osfile.OS}
	db := open(t, shared(t), &Options{system: system, Durability: DurabilityNormal})
	must.Do(t, db.SetJournalMode(t.Context(), JournalWAL))
	before := system.syncs.Load()
	const goroutines, each = 50, 20
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range each {
				if err := errors.Join(insertOne2(db, i), db.Sync(context.Background())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	syncs := system.syncs.Load() - before
	t.Logf("%d syncs for %d calls", syncs, goroutines*each)
	if syncs == 0 || syncs > goroutines*each/2 && !invariant.Enabled { // under the race detector few come while one syncs
		t.Errorf("%d syncs for %d calls", syncs, goroutines*each)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := db.Sync(canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func insertOne2(db *DB, i int) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert(i, i)
		}
		return err
	})
}

// TestPin pins numbers through two connections.
func TestPin(t *testing.T) {
	t.Parallel()
	path := shared(t)
	a, b := open(t, path, nil), open(t, path, &Options{ReadOnly: true})
	pinned := func(db *DB, n int64, want bool) {
		t.Helper()
		if got, err := db.pager.Pinned(n); got != want || err != nil {
			t.Errorf("pinned(%d) = %v, %v; want %v", n, got, err, want)
		}
	}
	for _, n := range []int64{0, 1, 77, private.MaxPin} {
		pinned(a, n, false)
		must.Do(t, b.pager.Pin(n))
		must.Do(t, b.pager.Pin(n))
		pinned(a, n, true)
		pinned(b, n, false)
		must.Do(t, a.pager.Pin(n))
		pinned(b, n, true)
		must.Do(t, b.pager.Unpin(n))
		pinned(a, n, false)
	}
	for _, n := range []int64{-1, private.MaxPin + 1} {
		if err := a.pager.Pin(n); !errors.Is(err, ErrUnsupported) {
			t.Errorf("pin(%d): %v", n, err)
		}
	}
	must.Do(t, insertOne2(a, 1)) // pins keep no writer waiting
	pinned(b, 77, true)
}

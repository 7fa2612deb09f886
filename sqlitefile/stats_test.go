package sqlitefile

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile/crashfs"
)

// A recorder is an Options.Trace that remembers.
type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) trace(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// of returns the events of a kind so far.
func (r *recorder) of(kind EventKind) (list []Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

func TestStats(t *testing.T) {
	t.Parallel()
	var r recorder
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := Open(path, &Options{Create: true, PageSize: 1024, JournalMode: JournalWAL, Durability: DurabilityNormal, Trace: r.trace})
	if err != nil {
		t.Fatal(err)
	}
	if s := db.Stats(); s.Pages != 1 || s.PageSize != 1024 || s.Groups != 0 || s.GroupSize() != 0 || !s.OldestReader.IsZero() && s.Readers == 0 {
		t.Errorf("at first: %+v", s)
	}
	if err := db.Exec(t.Context(), "CREATE TABLE t(a); CREATE TABLE u(a)"); err != nil {
		t.Fatal(err)
	}
	insert := func(n int) {
		update(t, db, func(tx *Tx) error {
			table, err := tx.Table("t")
			for i := 0; i < n && err == nil; i++ {
				_, err = table.Insert(make([]byte, 800))
			}
			return err
		})
	}
	insert(10)
	if err := db.Exec(t.Context(), "DROP TABLE u"); err != nil {
		t.Fatal(err)
	}
	s := db.Stats()
	if s.Groups != 3 || s.Transactions != 3 || s.GroupSize() != 1 || s.LogFrames == 0 || s.LogBytes != int64(s.LogFrames)*(1024+24) || s.FreePages != 1 || s.Pages < 12 {
		t.Errorf("%+v", s)
	}
	if err := db.Checkpoint(t.Context(), CheckpointFull); err != nil {
		t.Fatal(err)
	}
	if s := db.Stats(); s.Checkpoints == 0 || s.LogCopied != s.LogFrames {
		t.Errorf("after a checkpoint: %+v", s)
	}
	if commits := r.of(EventCommit); len(commits) != 3 || commits[1].Transactions != 1 || commits[1].Pages < 10 || commits[1].Took < 0 || commits[1].Start.IsZero() {
		t.Errorf("%+v", commits)
	}
	copied := 0
	for _, e := range r.of(EventCheckpoint) {
		copied += e.Pages
	}
	if copied != int(s.LogFrames) {
		t.Errorf("%d of %d frames: %+v", copied, s.LogFrames, r.of(EventCheckpoint))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if s := db.Stats(); s.LogFrames != 0 || s.Transactions != 3 || s.Readers != 0 {
		t.Errorf("closed: %+v", s)
	}
}

// TestStatsGroups commits from many goroutines.
func TestStatsGroups(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), &Options{Create: true, JournalMode: JournalWAL})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 10 {
				err := db.Update(context.Background(), func(tx *Tx) error {
					table, err := tx.Table("t")
					if err == nil {
						_, err = table.Insert(1)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				_ = db.Stats()
			}
		})
	}
	wg.Wait()
	if s := db.Stats(); s.Transactions != 161 || s.Groups == 0 || s.Groups > 161 {
		t.Errorf("%+v", s)
	}
}

// TestStatsReader has a reader that stays while other readers come and go, and a writer writes.
func TestStatsReader(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), &Options{Create: true, JournalMode: JournalWAL, Durability: DurabilityOff})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	rx, err := db.BeginView(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for range 20 {
		update(t, db, func(tx *Tx) error {
			table, err := tx.Table("t")
			if err == nil {
				_, err = table.Insert(1)
			}
			return err
		})
		view(t, db, func(*Rx) error { return nil })
	}
	s := db.Stats()
	if s.Readers < 1 || s.OldestReader.After(begun) || s.OldestReader.Before(before.Add(-time.Minute)) {
		t.Errorf("%d readers since %v, one began after %v and before %v", s.Readers, s.OldestReader, before, begun)
	}
	rx.End()
	if s := db.Stats(); s.Readers != 0 || !s.OldestReader.IsZero() {
		t.Errorf("afterwards: %d readers since %v", s.Readers, s.OldestReader)
	}
}

// TestTraceWait counts and tells of a wait for a lock.
func TestTraceWait(t *testing.T) {
	t.Parallel()
	var r recorder
	path := filepath.Join(t.TempDir(), "x.db")
	first := open(t, path, &Options{Create: true})
	second := open(t, path, &Options{BusyTimeout: time.Millisecond, Create: true, Trace: r.trace})
	update(t, first, func(tx *Tx) error {
		if err := tx.Exec("CREATE TABLE t(a)"); err != nil {
			return err
		}
		if err := second.Exec(t.Context(), "CREATE TABLE u(a)"); !errors.Is(err, ErrBusy) {
			t.Errorf("%v", err)
		}
		return nil
	})
	if s := second.Stats(); s.BusyWaits != 1 || s.BusyTime < time.Millisecond {
		t.Errorf("%+v", s)
	}
	if waits := r.of(EventWait); len(waits) != 1 || !errors.Is(waits[0].Err, ErrBusy) || waits[0].Took < time.Millisecond {
		t.Errorf("%+v", waits)
	}
}

// TestTraceRecovery tells of a log, and of a journal, that a crash left.
func TestTraceRecovery(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		fs := crashfs.New()
		db := open(t, crashPath, &Options{Create: true, JournalMode: mode, system: watch(t, fs, DurabilityFull)})
		for _, sql := range []string{"CREATE TABLE t(a)", "CREATE TABLE u(a)"} {
			if err := db.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		found := false
		for d := range fs.History().Crashes() {
			var r recorder
			after := open(t, crashPath, &Options{Create: true, Trace: r.trace, system: watch(t, d.All().FS(), DurabilityFull)})
			view(t, after, func(*Rx) error { return nil })
			list := r.of(EventRecovery)
			found = found || len(list) == 1 && list[0].Pages > 0 && list[0].Err == nil && list[0].Kind.String() == "recovery"
		}
		if !found {
			t.Errorf("mode %d: no crash was recovered from", mode)
		}
	}
}

// TestTracePanics lets Options.Trace panic at each commit: whoever commits gets that panic, no
// other waits for ever, and all is there.
func TestTracePanics(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		path := filepath.Join(t.TempDir(), "x.db")
		var armed atomic.Bool
		db := open(t, path, &Options{Create: true, JournalMode: mode, Durability: DurabilityOff, Trace: func(e Event) {
			if armed.Load() && e.Kind == EventCommit {
				panic(e.Kind)
			}
		}})
		if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
			t.Fatal(err)
		}
		insert := func() (panicked any) {
			defer func() { panicked = recover() }()
			if err := db.Update(t.Context(), func(tx *Tx) error {
				table, err := tx.Table("t")
				if err == nil {
					_, err = table.Insert("row")
				}
				return err
			}); err != nil {
				t.Error(err)
			}
			return nil
		}
		armed.Store(true)
		var panics atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 50 {
					if insert() != nil {
						panics.Add(1)
					}
				}
			})
		}
		all.Wait()
		armed.Store(false)
		if insert() != nil || panics.Load() == 0 || panics.Load() != int64(db.Stats().Groups)-2 {
			t.Errorf("%d panics in %d commits", panics.Load(), db.Stats().Groups)
		}
		view(t, db, func(rx *Rx) error {
			table, err := rx.Table("t")
			if err != nil {
				return err
			}
			rows := 0
			for _, err := range table.All() {
				if err != nil {
					return err
				}
				rows++
			}
			if rows != 1001 {
				t.Errorf("%d rows", rows)
			}
			return nil
		})
	}
}

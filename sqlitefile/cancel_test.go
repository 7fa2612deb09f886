package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

// TestCancel cancels the context of what is at work at each operation on a file: it goes on to its
// end, or has not happened, and what comes after it works.
func TestCancel(t *testing.T) {
	for i, mode := range crashModes {
		c := &crashCase{wal: mode.wal, journal: mode.journal, durability: DurabilityExtra, pageSize: crashPageSizes[i%3], spill: 16 << 10}
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			image, first := crashfs.New(), newCrashState()
			if err := image.WriteFile(crashPath, first.build(t, c.pageSize, c.wal)); err != nil {
				t.Fatal(err)
			}
			base, stride, cancelled := image.History().End().None(), inShort(29, 5), 0
			if invariant.Enabled {
				stride = 11
			}
			for n := 1; ; n += stride {
				r := &faultRun{crashCase: c, base: base, ctx: context.Background(), may: []*crashState{first}, rng: rand.New(rand.NewPCG(uint64(n), 4))}
				got, err := r.cancel(n)
				if err != nil {
					t.Fatalf("operation %d: %v\n%s", n, err, indent(r.trace()))
				}
				cancelled += got
				if r.sys.Seen() < n {
					break
				}
			}
			if cancelled == 0 {
				t.Error("nothing has noticed that its context was cancelled")
			}
		})
	}
}

// cancel runs the workload, with a context that is cancelled at operation n, and counts the steps
// that ended because of it.
func (r *faultRun) cancel(n int) (cancelled int, err error) {
	r.fs = r.base.FS()
	r.sys = faultfs.New(r.fs)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.ctx = ctx
	r.sys.Arm(faultfs.Fault{N: n, Do: cancel})
	for _, step := range r.steps() {
		if r.ctx.Err() != nil {
			r.ctx = context.Background()
		}
		switch err := step(); {
		case err == nil:
		case errors.Is(err, context.Canceled):
			cancelled++
		default:
			return cancelled, err
		}
	}
	r.ctx = context.Background()
	return cancelled, r.use(r.fs)
}

// TestCancelWaits cancels each thing that waits for somebody else.
func TestCancelWaits(t *testing.T) {
	t.Parallel()
	for _, mode := range crashModes {
		for _, tt := range []struct {
			name string
			do   func(ctx context.Context, db *DB) error
		}{
			{"Update", func(ctx context.Context, db *DB) error { return db.Update(ctx, func(*Tx) error { return nil }) }},
			{"Exec", func(ctx context.Context, db *DB) error { return db.Exec(ctx, "CREATE TABLE u (a)") }},
			{"Checkpoint", func(ctx context.Context, db *DB) error {
				if err := db.Checkpoint(ctx, CheckpointFull); err != nil || mode.wal {
					return err
				}
				<-ctx.Done() // there is nothing to wait for
				return ctx.Err()
			}},
			{"SetJournalMode", func(ctx context.Context, db *DB) error { return db.SetJournalMode(ctx, JournalPersist) }},
		} {
			t.Run(mode.name+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				db := newModeDB(t, mode.wal, mode.journal)
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				err := db.Update(t.Context(), func(*Tx) error { return tt.do(ctx, db) })
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("behind another transaction: %v", err)
				}
				if err := db.Exec(t.Context(), "CREATE TABLE w (a)"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestCancelCommit cancels a commit that waits for a reader: of all the transactions that are
// committed together, or of one alone.
func TestCancelCommit(t *testing.T) {
	t.Parallel()
	db := newModeDB(t, false, JournalDelete)
	create := func(ctx context.Context, name string) error {
		return db.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (a)", name))
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	rx, err := db.BeginView(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := create(short, "one"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a commit that waits for a reader: %v", err)
	}
	long, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- create(long, "two") }()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a commit that waits for a reader: %v", err)
	}
	rx.End()
	if err := create(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	view(t, db, func(rx *Rx) error {
		if _, err := rx.Table("two"); !errors.Is(err, ErrNoTable) {
			t.Errorf("what was cancelled: %v", err)
		}
		return nil
	})
}

// newModeDB opens a new database in a journal mode, with an empty table t.
func newModeDB(t *testing.T, wal bool, journal JournalMode) *DB {
	t.Helper()
	if wal {
		journal = JournalWAL
	}
	db := open(t, t.TempDir()+"/mode.db", &Options{Create: true, JournalMode: journal, Durability: DurabilityNormal, BusyTimeout: time.Minute})
	if err := db.Exec(t.Context(), "CREATE TABLE t (a, b)"); err != nil {
		t.Fatal(err)
	}
	return db
}

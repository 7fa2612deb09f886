package sqlitefile

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
)

// TestInUpdate calls, within a transaction, everything that waits for the end of one: each call
// returns ErrInUpdate, and the transaction goes on. No other transaction runs meanwhile.
func TestInUpdate(t *testing.T) {
	ctx := context.Background()
	nothing := func(*Tx) error { return nil }
	calls := map[string]func(db *DB) error{
		"Update": func(db *DB) error { return db.Update(ctx, nothing) },
		"Batch":  func(db *DB) error { return db.Batch(ctx, nothing) },
		"BeginUpdate": func(db *DB) error {
			_, err := db.BeginUpdate(ctx)
			return err
		},
		"Exec":           func(db *DB) error { return db.Exec(ctx, "CREATE TABLE u (a)") },
		"Checkpoint":     func(db *DB) error { return db.Checkpoint(ctx, CheckpointTruncate) },
		"SetJournalMode": func(db *DB) error { return db.SetJournalMode(ctx, JournalDelete) },
		"Compact":        func(db *DB) error { return db.Compact(ctx, nil) },
		"Close":          func(db *DB) error { return db.Close() },
	}
	outers := map[string]func(db *DB, ctx context.Context, fn func(tx *Tx) error) error{"in Update": (*DB).Update, "in Batch": (*DB).Batch}
	for outer, begin := range outers {
		for name, call := range calls {
			t.Run(name+" "+outer, func(t *testing.T) {
				db := open(t, shared(t), nil)
				must.Do(t, db.SetJournalMode(ctx, JournalWAL))
				must.Do(t, begin(db, ctx, func(*Tx) error {
					if err := call(db); !errors.Is(err, ErrInUpdate) {
						t.Errorf("%v, want ErrInUpdate", err)
					}
					return nil
				}))
				must.Do(t, insertOne2(db, 1))
			})
		}
	}
}

// TestInOtherUpdate waits for transactions that are not those of the caller, for longer than it
// takes to look whether they are: these calls wait on.
func TestInOtherUpdate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, other := open(t, shared(t), nil), open(t, shared(t), nil)
	began, end := make(chan struct{}), make(chan struct{})
	held := make(chan error, 1)
	go func() {
		held <- db.Update(ctx, func(*Tx) error {
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	waiting := make(chan error, 2)
	go func() { waiting <- insertOne2(db, 1) }()
	go func() { // within a transaction of another database
		waiting <- other.Update(ctx, func(*Tx) error { return insertOne2(db, 2) })
	}()
	for deadline := time.Now().Add(time.Minute); db.pager.Probe().Looks() < 4 && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	close(end)
	for _, c := range []chan error{held, waiting, waiting} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}

// TestInUpdateOfTwo nests a call while the transaction of another database runs: the call cannot be
// sure that it waits for itself, and ends with ErrBusy after BusyTimeout.
func TestInUpdateOfTwo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, other := open(t, shared(t), &Options{BusyTimeout: time.Millisecond}), open(t, shared(t), nil)
	must.Do(t, other.Update(ctx, func(*Tx) error {
		return db.Update(ctx, func(*Tx) error {
			done := make(chan error)
			go func() { // whose stack has one frame where two transactions run
				done <- open(t, shared(t), nil).Update(ctx, func(*Tx) error {
					err := insertOne2(db, 1)
					if !errors.Is(err, ErrBusy) {
						t.Errorf("%v, want ErrBusy", err)
					}
					return nil
				})
			}()
			return <-done
		})
	}))
}

// TestUpdateCancelled begins with a context that is over: no function runs.
func TestUpdateCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	db := open(t, shared(t), nil)
	for name, begin := range map[string]func(ctx context.Context, fn func(tx *Tx) error) error{"Update": db.Update, "Batch": db.Batch} {
		err := begin(ctx, func(*Tx) error {
			t.Errorf("%s runs its function", name)
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package sqlitefile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
)

// TestInUpdate calls, within a transaction, everything that waits for the end of one: each call
// returns ErrBusy, and the transaction goes on.
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
				db := open(t, shared(t), &Options{BusyTimeout: time.Millisecond})
				must.Do(t, db.SetJournalMode(ctx, JournalWAL))
				must.Do(t, begin(db, ctx, func(*Tx) error {
					if err := call(db); !errors.Is(err, ErrBusy) {
						t.Errorf("%v, want ErrBusy", err)
					}
					return nil
				}))
				must.Do(t, insertOne2(db, 1))
			})
		}
	}
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

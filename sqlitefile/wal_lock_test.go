package sqlitefile

import (
	"context"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// TestCommitWhileMarksAreTaken commits at a moment when another connection holds all read locks but
// one, as those do who move the marks. The transaction is in the log by then: it must not be
// reported as a failure.
func TestCommitWhileMarksAreTaken(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, -1} { // the default; not at all
		path := shared(t)
		db := open(t, path, &Options{BusyTimeout: timeout})
		if err := db.SetJournalMode(t.Context(), JournalWAL); err != nil {
			t.Fatal(err)
		}
		wantRows(t, db, 10)
		other, err := wal.OpenIndex(osfile.OS, handleOf(t, path))
		if err != nil {
			t.Fatal(err)
		}
		before, ok, err := other.Load()
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		words := before.Words()
		released := make(chan struct{})
		err = db.Update(context.Background(), func(tx *Tx) error {
			if err := other.Lock(osfile.Exclusive, format.WALReadLock+1, format.WALReaders-1); err != nil {
				return err
			}
			go func() {
				defer close(released)
				for other.Same(&words) { // until the commit shows
				}
				other.Unlock(format.WALReadLock+1, format.WALReaders-1)
			}()
			return tx.Exec("CREATE TABLE more(a)")
		})
		if err != nil {
			t.Errorf("commit: %v", err)
		}
		<-released
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		update(t, db, func(tx *Tx) error { return tx.Exec("DROP TABLE more") })
	}
}

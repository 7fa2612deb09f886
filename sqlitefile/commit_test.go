package sqlitefile

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

// TestBusyIsNotCommitted lets each attempt to take a lock find it taken, as another process may have it for a moment: a transaction that
// fails has not happened, and one that is in the file has not failed.
func TestBusyIsNotCommitted(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalWAL, JournalPersist} {
		for n, hit := 1, true; hit; n++ {
			hit = busyAt(t, mode, n)
		}
	}
}

// busyAt lets the n-th attempt of two transactions fail, and reports whether there was one.
func busyAt(t *testing.T, mode JournalMode, n int) bool {
	sys := faultfs.New(osfile.OS)
	path := filepath.Join(t.TempDir(), "db")
	ctx := t.Context()
	db, err := Open(path, &Options{Create: true, BusyTimeout: -time.Second, system: sys})
	if err == nil {
		err = errors.Join(db.Exec(ctx, "CREATE TABLE t(a)"), db.SetJournalMode(ctx, mode))
	}
	if err != nil {
		t.Fatal(err)
	}
	insert := func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert("a")
		}
		return err
	}
	sys.Arm(faultfs.Fault{Ops: faultfs.Lock, N: n, Err: osfile.ErrLocked})
	want := 0
	for range 2 {
		switch err := db.Update(ctx, insert); {
		case err == nil:
			want++
		case !errors.Is(err, ErrBusy):
			t.Errorf("%v, attempt %d fails by %v", mode, n, err)
		}
	}
	sys.Heal()
	wantRows(t, db, want)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	wantRows(t, again, want)
	return len(sys.Hits()) > 0
}

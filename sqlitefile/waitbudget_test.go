package sqlitefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/pager"
)

// A locker is another connection that holds locks of a database.
type locker struct {
	*testing.T
	file *osfile.File
}

func (l *locker) lock(kind osfile.LockKind, off, n int64) {
	l.Helper()
	if err := l.file.Lock(kind, off, n); err != nil {
		l.Fatal(err)
	}
}

func (l *locker) unlock(off, n int64) {
	if err := l.file.Unlock(off, n); err != nil {
		l.Error(err)
	}
}

// TestWaitBudget waits for several locks in one call, one after another: BusyTimeout counts for all
// of them. Time is that of synctest.
func TestWaitBudget(t *testing.T) {
	write := func(ctx context.Context, db *DB) error { return db.Exec(ctx, "CREATE TABLE more (a)") }
	for _, tt := range []struct {
		name  string
		empty bool
		locks func(l *locker)
		do    func(ctx context.Context, db *DB) error
	}{
		{"RESERVED", false, func(l *locker) { l.lock(osfile.Exclusive, format.ReservedByte, 1) }, write},
		{"RESERVED, then SHARED", false, reservedThenShared, write},
		{"the same for a new database", true, reservedThenShared, write},
		{"the same on the way into WAL mode", false, reservedThenShared, func(ctx context.Context, db *DB) error {
			return db.SetJournalMode(ctx, JournalWAL)
		}},
		{"two calls with one timeout", false, func(l *locker) { l.lock(osfile.Exclusive, format.ReservedByte, 1) }, func(ctx context.Context, db *DB) error {
			ctx = pager.WithBusyTimeout(ctx, 0)
			if err := write(ctx, db); !errors.Is(err, ErrBusy) {
				return err
			}
			return write(ctx, db)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, l := newLocked(t, tt.empty)
				tt.locks(l)
				start := time.Now()
				err := tt.do(t.Context(), db)
				took := time.Since(start)
				if !errors.Is(err, ErrBusy) || took != pager.DefaultBusyTimeout {
					t.Errorf("%v after %v, want ErrBusy after %v", err, took, pager.DefaultBusyTimeout)
				}
			})
		})
	}
}

// reservedThenShared is a writer that commits after three seconds, and a reader who stays.
func reservedThenShared(l *locker) {
	l.lock(osfile.Shared, format.SharedByte, format.SharedSize)
	l.lock(osfile.Exclusive, format.ReservedByte, 1)
	time.AfterFunc(3*time.Second, func() { l.unlock(format.ReservedByte, 1) })
}

// newLocked returns a database in rollback mode, open, and another connection to it.
func newLocked(t *testing.T, empty bool) (*DB, *locker) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "busy.db")
	db, err := Open(path, &Options{Create: true, JournalMode: JournalDelete, Durability: DurabilityOff})
	if err == nil && !empty {
		err = db.Exec(t.Context(), "CREATE TABLE t (a)")
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := osfile.Open(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dberr.Join(file.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db, &locker{t, file}
}

// TestWaitBudgetGap waits for a connection that writes all the time, and gives up its lock between
// two transactions for a moment that is shorter than the back-off.
func TestWaitBudgetGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, l := newLocked(t, false)
		l.lock(osfile.Exclusive, format.ReservedByte, 1)
		time.AfterFunc(2*time.Second, func() { l.unlock(format.ReservedByte, 1) })
		time.AfterFunc(2*time.Second+2*pager.LockPoll, func() { _ = l.file.Lock(osfile.Exclusive, format.ReservedByte, 1) })
		start := time.Now()
		err := db.Exec(t.Context(), "CREATE TABLE more (a)")
		if took := time.Since(start); err != nil || took > 2*time.Second+pager.LockPoll {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// TestWaitBudgetNone does not wait.
func TestWaitBudgetNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, l := newLocked(t, false)
		l.lock(osfile.Exclusive, format.ReservedByte, 1)
		start := time.Now()
		err := db.Exec(pager.WithBusyTimeout(t.Context(), -1), "CREATE TABLE more (a)")
		if took := time.Since(start); !errors.Is(err, ErrBusy) || took != 0 {
			t.Errorf("%v after %v", err, took)
		}
	})
}

package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/private"
)

// begin starts a transaction that is rolled back at the latest when the test ends.
func begin(t *testing.T, db *DB) *Tx {
	t.Helper()
	tx, err := db.BeginUpdate(t.Context())
	must.Do(t, err)
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

func insertInto(t *testing.T, tx *Tx, table string, values ...any) {
	t.Helper()
	w, err := tx.Table(table)
	must.Do(t, err)
	_, err = w.Insert(values...)
	must.Do(t, err)
}

func lenOf(t *testing.T, rx *Rx, name string) (n int) {
	t.Helper()
	table, err := rx.Table(name)
	if errors.Is(err, ErrNoTable) {
		return -1
	}
	must.Do(t, err)
	for _, err := range table.All() {
		must.Do(t, err)
		n++
	}
	return n
}

func wantLen(t *testing.T, db *DB, table string, want int) {
	t.Helper()
	view(t, db, func(rx *Rx) error {
		if n := lenOf(t, rx, table); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
		return nil
	})
}

// TestBeginUpdate commits and rolls back transactions without a function, in every journal mode.
func TestBeginUpdate(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalTruncate, JournalPersist, JournalWAL} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			path := t.TempDir() + "/db"
			db := open(t, path, &Options{Create: true, JournalMode: mode})
			tx := begin(t, db)
			must.Do(t, tx.Exec("CREATE TABLE t (a)"))
			insertInto(t, tx, "t", 1)
			must.Do(t, tx.Commit())
			wantLen(t, db, "t", 1)
			tx = begin(t, db)
			insertInto(t, tx, "t", 2)
			must.Do(t, tx.Exec("CREATE TABLE u (a)"))
			wantLen(t, db, "t", 1)
			must.Do(t, tx.Rollback())
			wantLen(t, db, "t", 1)
			wantLen(t, db, "u", -1)
			must.Do(t, begin(t, db).Commit()) // of nothing
			must.Do(t, begin(t, db).Rollback())
			update(t, db, func(tx *Tx) error { insertInto(t, tx, "t", 3); return nil })
			wantLen(t, db, "t", 2)
			checkShell(t, path, "SELECT count(*) FROM t; PRAGMA integrity_check", "2\nok")
		})
	}
}

// TestBeginUpdateMisuse ends transactions twice, and where they are not the caller's to end, and
// uses them after the end.
func TestBeginUpdateMisuse(t *testing.T) {
	t.Parallel()
	db := misuseDB(t, Options{})
	for what, end := range map[string]func(tx *Tx) error{"Commit": (*Tx).Commit, "Rollback": (*Tx).Rollback} {
		tx := begin(t, db)
		w, err := tx.Table("t")
		must.Do(t, err)
		s, err := tx.Savepoint()
		must.Do(t, err)
		h := newHandles(t, &tx.Rx)
		must.Do(t, end(tx))
		h.use(t)
		for name, err := range map[string]error{
			"Commit": tx.Commit(), "Rollback": tx.Rollback(), "Nested": tx.Nested(func(*Tx) error { return nil }), "Savepoint": second(tx.Savepoint()),
			"Table": second(tx.Table("t")), "Insert": second(w.Insert(nil, 1000, 2)), "Exec": tx.Exec("DROP TABLE t"), "SetUserVersion": tx.SetUserVersion(1),
			"Savepoint.Rollback": s.Rollback(), "Savepoint.Release": s.Release(),
		} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s after %s: %v", name, what, err)
			}
		}
		update(t, db, func(tx *Tx) error {
			if err := end(tx); err == nil || errors.Is(err, ErrClosed) {
				t.Errorf("%s within Update: %v", what, err)
			}
			return nil
		})
		tx = begin(t, db)
		outer, err := tx.Savepoint()
		must.Do(t, err)
		must.Do(t, tx.Nested(func(tx *Tx) error {
			for name, err := range map[string]error{what: end(tx), "Savepoint.Rollback": outer.Rollback(), "Savepoint.Release": outer.Release()} {
				if err == nil || errors.Is(err, ErrClosed) {
					t.Errorf("%s within Nested: %v", name, err)
				}
			}
			return nil
		}))
		must.Do(t, end(tx))
	}
}

// TestBeginUpdateWaits lets other calls wait for a transaction: until it ends, or their ctx does.
func TestBeginUpdateWaits(t *testing.T) {
	t.Parallel()
	db := misuseDB(t, Options{})
	tx := begin(t, db)
	insertInto(t, tx, "k", 7, 8)
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := db.BeginUpdate(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("BeginUpdate: %v", err)
	}
	if err := db.Update(short, func(*Tx) error { return errors.New("it ran") }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Update: %v", err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			must.Do(t, db.Update(t.Context(), func(tx *Tx) error { insertInto(t, tx, "k", 100+i, 1); return nil }))
		})
		all.Go(func() {
			tx, err := db.BeginUpdate(t.Context())
			must.Do(t, err)
			insertInto(t, tx, "k", 200+i, 1)
			must.Do(t, tx.Commit())
		})
	}
	wantLen(t, db, "k", 1)
	must.Do(t, tx.Commit())
	all.Wait()
	wantLen(t, db, "k", 18)
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := db.BeginUpdate(ctx)
	must.Do(t, err)
	insertInto(t, tx, "k", 300, 1)
	cancel()
	if err := tx.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit: %v", err)
	}
	if _, err := db.BeginUpdate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("BeginUpdate: %v", err)
	}
	wantLen(t, db, "k", 18)
}

// TestBeginUpdateBusy waits for a transaction that stays open for longer than BusyTimeout, and for
// many that do not.
func TestBeginUpdateBusy(t *testing.T) {
	t.Parallel()
	db := misuseDB(t, Options{BusyTimeout: 100 * time.Millisecond})
	tx := begin(t, db)
	if _, err := db.BeginUpdate(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("BeginUpdate: %v", err)
	}
	if err := insertOne(db, 1); !errors.Is(err, ErrBusy) {
		t.Errorf("Update: %v", err)
	}
	must.Do(t, tx.Rollback())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			tx, err := db.BeginUpdate(t.Context())
			must.Do(t, err)
			time.Sleep(20 * time.Millisecond)
			must.Do(t, tx.Commit())
		})
	}
	all.Wait()
}

// TestEnforceForeignKeys changes from one transaction to the next whether foreign keys count.
func TestEnforceForeignKeys(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p)"))
	for i := range 6 {
		on := i%2 == 1
		err := db.Update(t.Context(), func(tx *Tx) error {
			tx.Internal(private.Key{}).EnforceForeignKeys(on)
			table, err := tx.Table("c")
			if err == nil {
				_, err = table.Insert(7)
			}
			return err
		})
		if errors.Is(err, ErrConstraint) != on {
			t.Errorf("foreign keys %v: %v", on, err)
		}
	}
}

// TestBeginUpdateRefused begins where nothing can be written.
func TestBeginUpdateRefused(t *testing.T) {
	t.Parallel()
	db := misuseDB(t, Options{})
	reader := open(t, db.Path(), &Options{ReadOnly: true})
	for range 2 {
		if _, err := reader.BeginUpdate(t.Context()); !errors.Is(err, ErrReadOnly) {
			t.Errorf("read-only: %v", err)
		}
	}
	busy := open(t, db.Path(), &Options{BusyTimeout: time.Millisecond})
	tx := begin(t, db)
	insertInto(t, tx, "k", 5, 6)
	if _, err := busy.BeginUpdate(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("locked: %v", err)
	}
	must.Do(t, tx.Commit())
	must.Do(t, begin(t, busy).Commit())
	closed, err := Open(db.Path(), nil)
	must.Do(t, err)
	must.Do(t, closed.Close())
	if _, err := closed.BeginUpdate(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestSavepoint goes back and forth between savepoints, with tables that come and go and pages that
// are spilled.
func TestSavepoint(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		for _, spill := range []int64{0, 20 * 4096} {
			t.Run(fmt.Sprint(mode, spill), func(t *testing.T) {
				t.Parallel()
				testSavepoint(t, open(t, t.TempDir()+"/db", &Options{Create: true, JournalMode: mode, spillBytes: spill}))
			})
		}
	}
}

func testSavepoint(t *testing.T, db *DB) {
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a, b)"))
	fill := func(tx *Tx, table string) {
		w, err := tx.Table(table)
		must.Do(t, err)
		for i := range 300 {
			_, err := w.Insert(i, make([]byte, 1000))
			must.Do(t, err)
		}
	}
	want := func(tx *Tx, rows, other int) {
		t.Helper()
		if n, m := lenOf(t, &tx.Rx, "t"), lenOf(t, &tx.Rx, "u"); n != rows || m != other {
			t.Errorf("%d and %d rows, want %d and %d", n, m, rows, other)
		}
	}
	tx := begin(t, db)
	fill(tx, "t")
	first, err := tx.Savepoint()
	must.Do(t, err)
	must.Do(t, tx.Exec("CREATE TABLE u (a, b); CREATE INDEX i ON t (a)"))
	fill(tx, "u")
	second, err := tx.Savepoint()
	must.Do(t, err)
	fill(tx, "t")
	want(tx, 600, 300)
	must.Do(t, second.Rollback())
	want(tx, 300, 300)
	must.Do(t, tx.Exec("DROP TABLE u"))
	fill(tx, "t")
	want(tx, 600, -1)
	must.Do(t, second.Rollback())
	want(tx, 300, 300)
	must.Do(t, second.Release())
	if err := second.Rollback(); !errors.Is(err, ErrClosed) {
		t.Errorf("a savepoint that was released: %v", err)
	}
	third, err := tx.Savepoint()
	must.Do(t, err)
	fill(tx, "u")
	must.Do(t, first.Rollback())
	want(tx, 300, -1)
	if err := third.Release(); !errors.Is(err, ErrClosed) {
		t.Errorf("a savepoint that was taken back: %v", err)
	}
	fill(tx, "t")
	failed := errors.New("no")
	if err := tx.Nested(func(tx *Tx) error {
		_, err := tx.Savepoint()
		must.Do(t, err)
		fill(tx, "t")
		return failed
	}); err != failed {
		t.Error(err)
	}
	want(tx, 600, -1)
	must.Do(t, tx.Nested(func(tx *Tx) error {
		_, err := tx.Savepoint() // left to Nested
		must.Do(t, err)
		fill(tx, "t")
		return nil
	}))
	want(tx, 900, -1)
	must.Do(t, tx.Commit()) // and first to Commit
	wantLen(t, db, "t", 900)
	if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

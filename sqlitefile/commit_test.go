package sqlitefile

import (
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

// TestBusyIsNotCommitted lets each attempt to take a lock find it taken, as another process may
// have it for a moment: a transaction that fails has not happened, and one that is in the file has
// not failed.
func TestBusyIsNotCommitted(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalWAL, JournalPersist} {
		for _, sticky := range []bool{false, true} {
			for n, hit := 1, true; hit; n += inShort(4, 1) {
				hit = busyAt(t, mode, n, sticky)
			}
		}
	}
}

// busyAt lets the n-th attempt of two transactions fail, or all from it on, and reports whether
// there was one.
func busyAt(t *testing.T, mode JournalMode, n int, sticky bool) bool {
	path := filepath.Join(t.TempDir(), "db")
	ctx := t.Context()
	maker, err := Open(path, &Options{Create: true})
	if err == nil {
		err = errors.Join(maker.Exec(ctx, "CREATE TABLE t(a)"), maker.SetJournalMode(ctx, mode), maker.Close())
	}
	sys := faultfs.New(osfile.OS)
	var db *DB
	if err == nil {
		db, err = Open(path, &Options{BusyTimeout: -time.Second, JournalMode: mode % JournalWAL, system: sys})
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
	sys.Arm(faultfs.Fault{Ops: faultfs.Lock, N: n, Sticky: sticky, Err: osfile.ErrLocked})
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

// TestViewIsNotBusy: in WAL mode the locks that a reader takes are held by other connections for a
// moment at most, and it tries again even if it is not to wait for anything, as SQLite does.
func TestViewIsNotBusy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "db")
	writer, err := Open(path, &Options{Create: true})
	if err == nil {
		err = errors.Join(writer.SetJournalMode(ctx, JournalWAL), writer.Exec(ctx, "CREATE TABLE t(a)"))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	sys := faultfs.New(osfile.OS)
	db, err := Open(path, &Options{BusyTimeout: -time.Second, system: sys})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := range 20 {
		if err := writer.Update(ctx, func(tx *Tx) error { return tx.Exec("CREATE TABLE t" + strconv.Itoa(n) + "(a)") }); err != nil {
			t.Fatal(err)
		}
		db.pager.Probe().RetireLease()
		sys.Arm(faultfs.Fault{Ops: faultfs.Lock, N: 1 + n%4, Err: osfile.ErrLocked})
		if err := db.View(ctx, func(*Rx) error { return nil }); err != nil {
			t.Errorf("attempt %d: %v", n, err)
		}
	}
	sys.Heal()
}

// TestOwnLeaseIsNotBusy: a lease of our own that nobody uses and that is about to end keeps nobody
// from reading, however short the timeout.
func TestOwnLeaseIsNotBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	db, err := Open(path, &Options{Create: true, BusyTimeout: -time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	complete := db.pager.Probe().Lease().BeginEnd()
	if err := db.View(t.Context(), func(*Rx) error { return nil }); err != nil {
		t.Error(err)
	}
	complete()
	if err := db.View(t.Context(), func(*Rx) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestGroupGrowsAgain: a page that a group loses at the end of the database and gets again is
// committed once, and its memory belongs to nobody else afterwards.
func TestGroupGrowsAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := scripted(t, "PRAGMA page_size=512; PRAGMA auto_vacuum=1; CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	fill := func(rowid int64) func(tx *Tx) error {
		return func(tx *Tx) error {
			table, err := tx.Table("t")
			if err == nil {
				err = table.Put(rowid, rowid, make([]byte, 20_000))
			}
			return err
		}
	}
	empty := func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.DeleteRange(1, 10)
		}
		return err
	}
	release := db.pager.Probe().HoldCommits() // they all join one group
	var commit func() error
	for _, fn := range []func(*Tx) error{fill(1), empty, fill(2)} {
		tx := newTx(db)
		tx.fn = fn
		if commit, err = db.pager.Probe().Run(ctx, &tx.pages, (*txWork)(tx)); err != nil {
			t.Fatal(err)
		}
	}
	release()
	if err := commit(); err != nil {
		t.Fatal(err)
	}
	for _, fn := range []func(*Tx) error{fill(3), fill(4), empty} {
		if err := db.Update(ctx, fn); err != nil {
			t.Fatal(err)
		}
		if r, err := db.Check(ctx, nil); err != nil || !r.OK() {
			t.Fatal(err, r)
		}
	}
}

// TestPageSizeChanges: memory that pages had is not given to larger ones.
func TestPageSizeChanges(t *testing.T) {
	t.Parallel()
	path := scripted(t, "PRAGMA page_size=1024; CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
	db := open(t, path, nil)
	put := func(tx *Tx) error {
		table, err := tx.Table("t")
		for id := int64(1); id <= 100 && err == nil; id++ {
			err = table.Put(id, id, make([]byte, 500))
		}
		return err
	}
	for _, size := range []string{"1024", "8192", "512", "65536"} {
		shell(t, path, ".timeout 5000\nPRAGMA page_size="+size+"; VACUUM")
		for range 2 {
			update(t, db, put)
		}
		if got := shell(t, path, ".timeout 5000\nSELECT sum(length(a)) FROM t; PRAGMA integrity_check; PRAGMA page_size"); got != "50000\nok\n"+size {
			t.Fatalf("pages of %s bytes: %s", size, got)
		}
	}
}

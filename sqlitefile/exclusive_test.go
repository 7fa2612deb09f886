package sqlitefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

// keptOut checks that nobody gets at a database.
func keptOut(t *testing.T, p *peer, path, when string) {
	t.Helper()
	for _, sql := range []string{"SELECT * FROM t", "INSERT INTO t VALUES(77)", "BEGIN IMMEDIATE"} {
		if got := p.do(sql); !strings.Contains(got, "locked") {
			t.Errorf("%s: %s: %q", when, sql, got)
		}
	}
	if _, err := Open(path, &Options{BusyTimeout: -1}); !errors.Is(err, ErrBusy) {
		t.Errorf("%s: another DB: %v", when, err)
	}
}

// TestExclusive keeps SQLite and another DB out while it reads, writes, and changes what it stands
// on; then it lets them in again.
func TestExclusive(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalTruncate, JournalPersist, JournalWAL} {
		path := filepath.Join(t.TempDir(), "x.db")
		db, err := Open(path, &Options{Create: true, JournalMode: mode, Exclusive: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		p := newPeer(t, path)
		insert := func() {
			update(t, db, func(tx *Tx) error {
				table, err := tx.Table("t")
				if err == nil {
					_, err = table.Insert("x")
				}
				return err
			})
		}
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"create", func() error { return db.Exec(t.Context(), "CREATE TABLE t(a)") }},
			{"checkpoint", func() error { return db.Checkpoint(t.Context(), CheckpointTruncate) }},
			{"check", func() error { _, err := db.Check(t.Context(), nil); return err }},
			{"other mode", func() error { return db.SetJournalMode(t.Context(), JournalDelete+(mode-JournalDelete+1)%4) }},
			{"into WAL", func() error { return db.SetJournalMode(t.Context(), JournalWAL) }},
			{"out of WAL", func() error { return db.SetJournalMode(t.Context(), JournalTruncate) }},
			{"back", func() error { return db.SetJournalMode(t.Context(), mode) }},
		} {
			if err := step.do(); err != nil {
				t.Fatalf("mode %d: %s: %v", mode, step.name, err)
			}
			insert()
			keptOut(t, p, path, fmt.Sprintf("mode %d: %s", mode, step.name))
		}
		if _, err := os.Stat(path + "-shm"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("mode %d: there is a wal-index: %v", mode, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		p.must("SELECT count(*) FROM t; PRAGMA integrity_check", "7\nok")
	}
}

// TestExclusiveCompact goes on keeping other connections out of the new file.
func TestExclusiveCompact(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		path := filepath.Join(t.TempDir(), "x.db")
		db := open(t, path, &Options{Create: true, JournalMode: mode, Exclusive: true})
		if err := db.Exec(t.Context(), "CREATE TABLE t(a); CREATE TABLE u(a); DROP TABLE u"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := db.Compact(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			p := newPeer(t, path)
			keptOut(t, p, path, fmt.Sprint("mode ", mode))
			p.quit()
		}
		if err := db.Exec(t.Context(), "CREATE INDEX ta ON t(a)"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExclusiveBusy cannot have a database that another connection uses, and leaves no lock behind.
func TestExclusiveBusy(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"DELETE", "WAL"} {
		path := scripted(t, "PRAGMA journal_mode="+mode+"; CREATE TABLE t(a)")
		p := newPeer(t, path)
		p.must("BEGIN; SELECT * FROM t", "")
		o := &Options{Exclusive: true, BusyTimeout: 20 * time.Millisecond}
		if _, err := Open(path, o); !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", mode, err)
		}
		p.must("COMMIT; INSERT INTO t VALUES(1); SELECT * FROM t", "1")
		p.quit()
		db := open(t, path, o)
		view(t, db, func(rx *Rx) error { _, err := rx.Table("t"); return err })
		if _, err := Open(path, o); !errors.Is(err, ErrBusy) {
			t.Errorf("%s: twice: %v", mode, err)
		}
	}
	if _, err := Open(scripted(t, ""), &Options{Exclusive: true, ReadOnly: true}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

// TestExclusiveRecovery finds the log, or the journal, of a process that died.
func TestExclusiveRecovery(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"WAL", "DELETE"} {
		path := scripted(t, "PRAGMA journal_mode="+mode+"; CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(1000000))")
		p := newPeer(t, path)
		want := 2
		if mode == "WAL" {
			p.must("INSERT INTO t VALUES(2)", "")
		} else {
			want = 1
			p.must("PRAGMA cache_size=1; BEGIN; UPDATE t SET a = randomblob(1000000); INSERT INTO t VALUES(2)", "")
		}
		p.kill()
		recovered := 0
		db, err := Open(path, &Options{Exclusive: true, Trace: func(e Event) {
			if e.Kind == EventRecovery && e.Err == nil {
				recovered++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if recovered != 1 {
			t.Errorf("%s: recovered %d times", mode, recovered)
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
			if rows != want {
				t.Errorf("%s: %d rows, want %d", mode, rows, want)
			}
			return nil
		})
		if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
			t.Errorf("%s: %v %v", mode, err, report)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		checkShell(t, path, "SELECT count(*) FROM t; PRAGMA integrity_check", fmt.Sprintf("%d\nok", want))
		if names, _ := filepath.Glob(path + "-*"); len(names) > 0 {
			t.Errorf("%s: %v", mode, names)
		}
	}
}

// TestExclusiveWithoutSharedMemory has a log of three blocks of the index on a system that cannot
// map files, and does not touch the file of the index.
func TestExclusiveWithoutSharedMemory(t *testing.T) {
	t.Parallel()
	fs := crashfs.New()
	sys := faultfs.New(watch(t, fs, DurabilityOff))
	sys.Arm(faultfs.Fault{Ops: faultfs.Map | faultfs.MapWords, N: 1, Sticky: true, Err: osfile.ErrNoMap})
	o := &Options{Create: true, JournalMode: JournalWAL, PageSize: 512, Exclusive: true, Durability: DurabilityOff, system: sys}
	db, err := Open(crashPath, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
		t.Fatal(err)
	}
	rx, err := db.BeginView(t.Context()) // keeps the log from beginning anew
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		update(t, db, func(tx *Tx) error {
			table, err := tx.Table("t")
			if err == nil {
				_, err = table.Insert(strings.Repeat(fmt.Sprint(i), 400_000))
			}
			return err
		})
	}
	if n := db.Stats().LogFrames; n < 9000 {
		t.Errorf("%d frames", n)
	}
	if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("%v %v", err, report)
	}
	rx.End()
	image := fs.History().End().All()
	o.system = faultfs.New(image.FS())
	for _, db := range []*DB{db, open(t, crashPath, o)} {
		view(t, db, func(rx *Rx) error {
			table, err := rx.Table("t")
			if err != nil {
				return err
			}
			row, ok, err := table.Get(12)
			if err == nil && ok {
				var text string
				if text, err = row.Text(0); text != strings.Repeat("11", 400_000) {
					t.Errorf("row 12 has %d bytes", len(text))
				}
			}
			if !ok {
				t.Error("no row 12")
			}
			return err
		})
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, op := range fs.Ops(0) {
		if strings.HasSuffix(op.Name, "-shm") && op.Kind != crashfs.Remove {
			t.Errorf("%v of the wal-index", op.Kind)
		}
	}
}

// TestExclusiveFaults lets each operation fail while the database is opened exclusively, written
// to, compacted and closed: no lock stays, and nothing is lost that was acknowledged.
func TestExclusiveFaults(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		for n, done := 1, false; !done; n++ {
			inner := crashfs.New()
			fs := faultfs.New(watchFaulty(inner, DurabilityExtra, func(err error) { t.Errorf("mode %d, operation %d: %v", mode, n, err) }))
			o := Options{Create: true, PageSize: 512, JournalMode: mode, Durability: DurabilityExtra, BusyTimeout: 10 * time.Millisecond, system: inner}
			if err := compactable(t, &o).Close(); err != nil {
				t.Fatal(err)
			}
			o.system, o.Exclusive = fs, true
			fs.Arm(faultfs.Fault{N: n, Err: syscall.EIO, Partial: true})
			acked := false
			if db, err := Open(crashPath, &o); err == nil {
				acked = db.Exec(t.Context(), "CREATE TABLE after(a)") == nil
				_ = db.Compact(t.Context(), nil) // may fail
				_ = db.Close()
			}
			hits := fs.Hits()
			done = len(hits) == 0
			if inner.Locks() > 0 || inner.Handles() > 0 {
				t.Errorf("mode %d, %v fails: %d locks and %d handles are left", mode, hits, inner.Locks(), inner.Handles())
			}
			o.system, o.Exclusive = inner, n%2 == 0
			db, err := Open(crashPath, &o)
			if err != nil {
				t.Errorf("mode %d, %v fails: %v", mode, hits, err)
				continue
			}
			err = checkCompactable(db)
			if err == nil && acked {
				err = db.View(t.Context(), func(rx *Rx) error { _, err := rx.Table("after"); return err })
			}
			if err != nil {
				t.Errorf("mode %d, %v fails: %v", mode, hits, err)
			}
			if err := db.Close(); err != nil {
				t.Errorf("mode %d, %v fails: %v", mode, hits, err)
			}
		}
	}
}

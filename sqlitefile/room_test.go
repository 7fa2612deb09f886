package sqlitefile

import (
	"errors"
	"testing"

	"github.com/foliofs/folio/internal/osfile/crashfs"
)

// TestFullAfterSpill commits a transaction that has already overwritten pages of the file, on a
// disk that another program has filled since: the commit fails, the pages are as they were, and the
// next transaction works.
func TestFullAfterSpill(t *testing.T) {
	t.Parallel()
	for _, mode := range crashModes {
		t.Run(mode.name, func(t *testing.T) {
			fs := crashfs.New(crashfs.WithFreeSpace(tightDisk))
			o := &Options{Create: true, PageSize: 1024, JournalMode: mode.journal, spillBytes: 8 << 10, system: fs}
			if mode.wal {
				o.JournalMode = JournalWAL
			}
			db := open(t, crashPath, o)
			if err := db.Exec(t.Context(), "CREATE TABLE t(a); CREATE INDEX ta ON t(a); CREATE TABLE large(a)"); err != nil {
				t.Fatal(err)
			}
			if err := addRow(db); err != nil {
				t.Fatal(err)
			}
			err := db.Update(t.Context(), func(tx *Tx) error {
				for n := range 230 {
					table, err := tx.Table("t")
					if err == nil {
						_, err = table.Insert(make([]byte, 600+n))
					}
					if err != nil {
						return err
					}
				}
				fs.LeaveFreeSpace(0)
				return nil
			})
			if !errors.Is(err, ErrFull) {
				t.Errorf("on a full disk: %v", err)
			}
			if err := checkRows(db, 1, 1); err != nil {
				t.Error(err)
			}
			fs.LeaveFreeSpace(tightDisk)
			if err := addRow(db); err != nil {
				t.Error(err)
			}
			if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
				t.Error(err, report)
			}
			if err := checkRows(db, 2, 2); err != nil {
				t.Error(err)
			}
		})
	}
}

// tightDB creates a database with a table of large rows on a tight disk.
func tightDB(t *testing.T, o *Options, autoVacuum int) (*DB, *crashfs.FS) {
	fs := crashfs.New(crashfs.WithFreeSpace(tightDisk))
	if err := fs.WriteFile(crashPath, emptyDatabase(1024, autoVacuum)); err != nil {
		t.Fatal(err)
	}
	o.system = fs
	db := open(t, crashPath, o)
	if o.JournalMode == JournalWAL {
		if err := db.SetJournalMode(t.Context(), JournalWAL); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Exec(t.Context(), "CREATE TABLE t(a); CREATE INDEX ta ON t(a); CREATE TABLE large(a)"); err != nil {
		t.Fatal(err)
	}
	if err := addRow(db); err != nil {
		t.Fatal(err)
	}
	return db, fs
}

func addLarge(t *testing.T, db *DB, fs *crashfs.FS, sizes ...int) {
	t.Helper()
	for _, size := range sizes {
		if err := db.Update(t.Context(), insertLarge("large", size)); err != nil {
			t.Fatal(err)
		}
		if err := db.Checkpoint(t.Context(), CheckpointTruncate); err != nil {
			t.Fatal(err)
		}
		fs.LeaveFreeSpace(tightDisk)
	}
}

func insertLarge(name string, sizes ...int) func(tx *Tx) error {
	return func(tx *Tx) error {
		table, err := tx.Table(name)
		for _, size := range sizes {
			if err == nil {
				_, err = table.Insert(make([]byte, size))
			}
		}
		return err
	}
}

func removeLarge(t *testing.T, db *DB, id int64, reserve bool) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *Tx) error {
		if reserve {
			tx.UseReserve()
		}
		table, err := tx.Table("large")
		if err == nil {
			_, err = table.Delete(id)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFullSpillOverHoles lets a transaction spill into free pages whose blocks the disk has got
// back, until the disk is full: rolling back must not need room (D4).
func TestFullSpillOverHoles(t *testing.T) {
	t.Parallel()
	for _, mode := range crashModes {
		t.Run(mode.name, func(t *testing.T) {
			o := &Options{JournalMode: mode.journal, spillBytes: 8 << 10}
			if mode.wal {
				o.JournalMode = JournalWAL
			}
			db, fs := tightDB(t, o, 0)
			addLarge(t, db, fs, 60<<10, 60<<10, 60<<10)
			fs.LeaveFreeSpace(0)
			removeLarge(t, db, 1, true)
			removeLarge(t, db, 2, true)
			for free := range 40 {
				fs.LeaveFreeSpace(int64(free) << 10)
				rows := make([]int, 250)
				for n := range rows {
					rows[n] = 900
				}
				switch err := db.Update(t.Context(), insertLarge("t", rows...)); {
				case err == nil:
					t.Fatal("250 KB went into 120 KB")
				case !errors.Is(err, ErrFull) || errors.Is(err, ErrFailed):
					t.Fatalf("with %d KiB free: %v", free, err)
				}
			}
			fs.LeaveFreeSpace(tightDisk)
			if err := addRow(db); err != nil {
				t.Error(err)
			}
			if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
				t.Error(err, report)
			}
		})
	}
}

// TestCutKeepsRoom removes a row, which cuts the file, and then another one on a disk that has
// become full: the cut must leave the kept room.
func TestCutKeepsRoom(t *testing.T) {
	t.Parallel()
	for _, mode := range crashModes {
		t.Run(mode.name, func(t *testing.T) {
			o := &Options{JournalMode: mode.journal}
			if mode.wal {
				o.JournalMode = JournalWAL
			}
			db, fs := tightDB(t, o, 1)
			addLarge(t, db, fs, 40<<10, 40<<10, 40<<10)
			for id := range int64(3) {
				removeLarge(t, db, id+1, id > 0)
				if err := db.Checkpoint(t.Context(), CheckpointTruncate); err != nil {
					t.Fatal(err)
				}
				fs.LeaveFreeSpace(0)
			}
		})
	}
}

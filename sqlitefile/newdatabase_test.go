package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestCreate makes new databases of every page size in every journal mode.
func TestCreate(t *testing.T) {
	t.Parallel()
	for size := 512; size <= 65536; size *= 2 {
		for mode, name := range map[JournalMode]string{JournalDelete: "delete", JournalTruncate: "truncate", JournalPersist: "persist", JournalWAL: "wal"} {
			t.Run(fmt.Sprint(size, name), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "new.db")
				db, err := Open(path, &Options{Create: true, PageSize: size, JournalMode: mode, NoMmap: size == 1024})
				if err != nil {
					t.Fatal(err)
				}
				view(t, db, func(rx *Rx) error {
					objects, err := rx.Objects()
					if i := rx.Info(); len(objects) != 0 || i.PageSize != size || i.PageCount != 1 || i.Encoding != "UTF-8" {
						t.Errorf("%v, %+v", objects, i)
					}
					return err
				})
				if report, err := db.Check(t.Context(), nil); err != nil || len(report.Problems) > 0 {
					t.Errorf("%v: %v", err, report.Problems)
				}
				if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
					t.Fatal(err)
				}
				update(t, db, func(tx *Tx) error {
					table, err := tx.Table("t")
					if err == nil {
						_, err = table.Insert("first")
					}
					return err
				})
				if got, err := db.JournalMode(t.Context()); got != mode || err != nil {
					t.Errorf("mode %d, %v", got, err)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				want := "ok\n" + map[bool]string{true: "wal", false: "delete"}[mode == JournalWAL] + "\nfirst"
				checkShell(t, path, "PRAGMA integrity_check; PRAGMA journal_mode; SELECT * FROM t", want)
			})
		}
	}
}

// TestCreateEmpty takes an empty file, but not without being told to, and leaves it empty if
// nothing is written.
func TestCreateEmpty(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "empty.db")
	if _, err := Open(path, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	writeFile(t, path, nil)
	if _, err := Open(path, nil); !errors.Is(err, ErrNotDatabase) {
		t.Errorf("empty file: %v", err)
	}
	if _, err := Open(path, &Options{Create: true, PageSize: 1000}); err == nil {
		t.Error("a page size of 1000")
	}
	db := open(t, path, &Options{Create: true, ReadOnly: true})
	view(t, db, func(rx *Rx) error {
		if _, err := rx.Table("t"); !errors.Is(err, ErrNoTable) {
			t.Errorf("%v", err)
		}
		return nil
	})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("%v bytes, %v", info.Size(), err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "x.db"), &Options{Create: true, ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file to read: %v", err)
	}
}

// TestCreateStale has a log and a journal of other databases beside the empty file.
func TestCreateStale(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		path := filepath.Join(t.TempDir(), "new.db")
		writeFile(t, path+"-journal", append([]byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x02\x00\x00\x00\x10\x00"), make([]byte, 8192)...))
		writeFile(t, path+"-wal", []byte("anything"))
		db := open(t, path, &Options{Create: true, JournalMode: mode})
		view(t, db, func(rx *Rx) error { return nil })
		if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
			t.Fatal(err)
		}
		checkShell(t, path, "PRAGMA integrity_check; SELECT name FROM sqlite_schema", "ok\nt")
	}
}

// TestCreateTogether lets many create the same database, who all see what the first one made.
func TestCreateTogether(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalWAL} {
		path := filepath.Join(t.TempDir(), "new.db")
		var wg sync.WaitGroup
		for range 4 {
			db := open(t, path, &Options{Create: true, JournalMode: mode})
			for range 2 {
				wg.Go(func() {
					if err := db.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS t(a)"); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Go(func() {
				if err := db.View(t.Context(), func(rx *Rx) error { _, err := rx.Objects(); return err }); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		checkShell(t, path, "PRAGMA integrity_check; SELECT count(*) FROM sqlite_schema", "ok\n1")
	}
}

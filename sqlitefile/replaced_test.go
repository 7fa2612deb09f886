package sqlitefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A replacer puts one file in the place of another.
type fileReplacer struct {
	name    string
	inPlace bool // the inode stays
	aside   bool // the old file gets another name
	do      func(next, old string) error
}

var fileReplacers = []fileReplacer{
	{"mv", false, false, os.Rename},
	{"mv of both", false, true, func(next, old string) error {
		return errors.Join(os.Rename(old, old+".aside"), os.Rename(next, old))
	}},
	{"cp", true, false, func(next, old string) error {
		data, err := os.ReadFile(next)
		return errors.Join(err, os.WriteFile(old, data, 0o644))
	}},
	{"rsync --inplace", true, false, func(next, old string) error {
		data, err := os.ReadFile(next)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(old, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(data, 0)
		return errors.Join(err, f.Truncate(int64(len(data))), f.Close())
	}},
}

// nextFiles make the database that takes the place of another one.
var nextFiles = []struct {
	name string
	make func(t *testing.T, path, old string)
}{
	{"a new one", func(t *testing.T, path, _ string) { makeReplaced(t, path, "new") }},
	{"one that was compacted", func(t *testing.T, path, _ string) {
		makeReplaced(t, path, "new")
		db := openReplaced(t, path, nil)
		mustNot(t, errors.Join(db.Compact(t.Context(), nil), db.Close()))
	}},
	{"a copy that was changed", func(t *testing.T, path, old string) {
		data, err := os.ReadFile(old)
		mustNot(t, errors.Join(err, os.WriteFile(path, data, 0o644)))
		db := openReplaced(t, path, nil)
		mustNot(t, errors.Join(setReplaced(t, db, "new"), db.Close()))
	}},
}

func mustNot(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openReplaced opens a database that the caller closes.
func openReplaced(t *testing.T, path string, o *Options) *DB {
	t.Helper()
	db, err := Open(path, o)
	mustNot(t, err)
	return db
}

const replacedRows = 100

// makeReplaced makes a database whose rows all have one value.
func makeReplaced(t *testing.T, path, value string) {
	t.Helper()
	db := openReplaced(t, path, &Options{Create: true})
	mustNot(t, errors.Join(db.Exec(t.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"), setReplaced(t, db, value), db.Close()))
}

// setReplaced gives all rows a value. Their pages stay where they are.
func setReplaced(t *testing.T, db *DB, value string) error {
	return db.Update(t.Context(), func(tx *Tx) error {
		w, err := tx.Table("t")
		for id := int64(1); id <= replacedRows && err == nil; id++ {
			err = w.Put(id, nil, strings.Repeat(value, 100))
		}
		return err
	})
}

// replacedValue returns the value that all rows have.
func replacedValue(t *testing.T, db *DB) (value string, err error) {
	err = db.View(t.Context(), func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		n := 0
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			text, err := row.Text(1)
			if err != nil {
				return err
			}
			if n++; n > 1 && text[:3] != value {
				return fmt.Errorf("%q and %q", value, text[:3])
			}
			value = text[:3]
		}
		if n != replacedRows {
			return fmt.Errorf("%d rows", n)
		}
		return nil
	})
	return value, err
}

// copyReplaced copies a database that is open, with the files beside it: as the death of its
// process leaves it.
func copyReplaced(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if data, err := os.ReadFile(from + suffix); err == nil {
			mustNot(t, os.WriteFile(to+suffix, data, 0o644))
		}
	}
}

// eachReplacement calls fn for each way and each kind of file, with the path of a database whose
// rows are "old", and of the one that is to replace it.
func eachReplacement(t *testing.T, fn func(t *testing.T, way fileReplacer, old, next string)) {
	for _, way := range fileReplacers {
		for _, kind := range nextFiles {
			t.Run(way.name+", "+kind.name, func(t *testing.T) {
				dir := t.TempDir()
				old, next := filepath.Join(dir, "old.db"), filepath.Join(dir, "next.db")
				makeReplaced(t, old, "old")
				kind.make(t, next, old)
				fn(t, way, old, next)
			})
		}
	}
}

// mustBeReplaced opens a database that has replaced another, and to which nothing of that belongs.
func mustBeReplaced(t *testing.T, path string) {
	t.Helper()
	db := openReplaced(t, path, nil)
	defer db.Close()
	if value, err := replacedValue(t, db); value != "new" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
	if r, err := db.Check(t.Context(), nil); err != nil || len(r.Problems) > 0 {
		t.Errorf("%v, %v", r, err)
	}
}

// TestReplacedInUse replaces a database that is open: nothing of it goes into the new one, and
// Close takes its log away.
func TestReplacedInUse(t *testing.T) {
	t.Parallel()
	eachReplacement(t, func(t *testing.T, way fileReplacer, old, next string) {
		db := openReplaced(t, old, nil)
		mustNot(t, setReplaced(t, db, "odd"))
		if value, err := replacedValue(t, db); value != "odd" || err != nil {
			t.Fatalf("%q, %v", value, err)
		}
		mustNot(t, way.do(next, old))
		value, err := replacedValue(t, db)
		if way.inPlace && !errors.Is(err, ErrMoved) || !way.inPlace && value != "odd" {
			t.Errorf("a view: %q, %v", value, err)
		}
		for _, o := range []*Options{nil, {ReadOnly: true}} {
			o := o
			if o == nil {
				o = new(Options)
			}
			o.BusyTimeout = -1
			if other, err := Open(old, o); err == nil {
				value, err := replacedValue(t, other)
				t.Errorf("opened while the old one is open: %q, %v", value, errors.Join(err, other.Close()))
			} else if !errors.Is(err, ErrMispaired) && !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
		}
		if err := db.Checkpoint(t.Context(), CheckpointPassive); way.inPlace && !errors.Is(err, ErrMoved) && !errors.Is(err, ErrFailed) {
			t.Errorf("a checkpoint: %v", err)
		}
		if err := setReplaced(t, db, "odd"); !errors.Is(err, ErrMoved) && !errors.Is(err, ErrFailed) {
			t.Errorf("a commit: %v", err)
		}
		if err := db.Close(); !errors.Is(err, ErrMoved) {
			t.Errorf("Close: %v", err)
		}
		mustBeReplaced(t, old)
		if !way.aside {
			return
		}
		db = openReplaced(t, old+".aside", nil)
		if value, err := replacedValue(t, db); value != "odd" || err != nil {
			t.Errorf("the old file: %q, %v", value, err)
		}
		mustNot(t, db.Close())
	})
}

// TestReplacedAfterDeath replaces a database whose process has left its log. The same files as they
// were are opened as ever.
func TestReplacedAfterDeath(t *testing.T) {
	t.Parallel()
	eachReplacement(t, func(t *testing.T, way fileReplacer, old, next string) {
		db := openReplaced(t, old, nil)
		mustNot(t, setReplaced(t, db, "odd"))
		dead, both := old+".dead", old+".both"
		copyReplaced(t, old, dead)
		copyReplaced(t, old, both)
		mustNot(t, db.Close())
		mustNot(t, way.do(next, dead))
		for range 2 {
			_, err := Open(dead, nil)
			if !errors.Is(err, ErrMispaired) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		}
		mustNot(t, os.Remove(dead+"-wal"))
		mustBeReplaced(t, dead)

		db = openReplaced(t, both, nil)
		if value, err := replacedValue(t, db); value != "odd" || err != nil {
			t.Errorf("a database with its log: %q, %v", value, err)
		}
		mustNot(t, db.Close())
	})
}

// TestReplacedJournal replaces a database beside which a hot journal lies.
func TestReplacedJournal(t *testing.T) {
	t.Parallel()
	for _, kind := range nextFiles[:2] {
		t.Run(kind.name, func(t *testing.T) {
			dir := t.TempDir()
			old, next := filepath.Join(dir, "old.db"), filepath.Join(dir, "next.db")
			makeReplaced(t, old, "old")
			kind.make(t, next, old)
			db := openReplaced(t, old, &Options{spillBytes: 64 << 10})
			mustNot(t, db.SetJournalMode(t.Context(), JournalDelete))
			mustNot(t, db.Update(t.Context(), func(tx *Tx) error {
				w, err := tx.Table("t")
				for id := int64(1); id < 5*replacedRows && err == nil; id++ {
					err = w.Put(id, nil, strings.Repeat("odd", 1000))
				}
				copyReplaced(t, old, old+".dead")
				copyReplaced(t, old, old+".both")
				return err
			}))
			mustNot(t, db.Close())
			if _, err := os.Stat(old + ".dead-journal"); err != nil {
				t.Fatal(err)
			}
			mustNot(t, os.Rename(next, old+".dead"))
			if _, err := Open(old+".dead", nil); !errors.Is(err, ErrMispaired) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			mustNot(t, os.Remove(old+".dead-journal"))
			mustBeReplaced(t, old+".dead")
			db = openReplaced(t, old+".both", nil)
			if value, err := replacedValue(t, db); value != "old" || err != nil {
				t.Errorf("a database with its journal: %q, %v", value, err)
			}
			mustNot(t, db.Close())
		})
	}
}

// TestReplacedAmongOpeners closes a database that was replaced while others try to open the new one
// all the time: they get out of the way.
func TestReplacedAmongOpeners(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := t.TempDir()
		old, next := filepath.Join(dir, "old.db"), filepath.Join(dir, "next.db")
		makeReplaced(t, old, "old")
		makeReplaced(t, next, "new")
		db := openReplaced(t, old, nil)
		mustNot(t, errors.Join(setReplaced(t, db, "odd"), os.Rename(next, old)))
		var openers sync.WaitGroup
		opened := make(chan bool, 8)
		for range cap(opened) {
			openers.Go(func() {
				for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
					db, err := Open(old, &Options{BusyTimeout: -1})
					if err == nil {
						_ = db.Close()
						opened <- true
						return
					}
				}
				opened <- false
			})
		}
		if err := db.Close(); !errors.Is(err, ErrMoved) {
			t.Error(err)
		}
		openers.Wait()
		for range cap(opened) {
			if !<-opened {
				t.Fatal("the new file cannot be opened")
			}
		}
		mustBeReplaced(t, old)
	}
}

// TestReplacedBesideOthers closes a database that was replaced while a program of SQLite has it
// open, which leaves the log there when it ends. Then the next Open in this process removes it.
func TestReplacedBesideOthers(t *testing.T) {
	t.Parallel()
	for _, way := range fileReplacers {
		for _, readOnly := range []bool{false, true} {
			if way.aside && readOnly {
				continue // who may not write cannot copy the log into the old file
			}
			t.Run(fmt.Sprintf("%s, read-only: %v", way.name, readOnly), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				old, next := filepath.Join(dir, "old.db"), filepath.Join(dir, "next.db")
				makeReplaced(t, old, "old")
				nextFiles[2].make(t, next, old)
				db := openReplaced(t, old, nil)
				mustNot(t, setReplaced(t, db, "odd"))
				program, err := osfile.Open(old+"-shm", os.O_RDWR, 0)
				mustNot(t, err)
				mustNot(t, program.Lock(osfile.Shared, format.WALOpenLock, 1))
				last := openReplaced(t, old, &Options{ReadOnly: readOnly})
				if value, err := replacedValue(t, last); value != "odd" || err != nil {
					t.Fatalf("%q, %v", value, err)
				}
				mustNot(t, way.do(next, old))
				for _, db := range []*DB{db, last} {
					if err := db.Close(); err != nil && !errors.Is(err, ErrMoved) {
						t.Error(err)
					}
				}
				if _, err := Open(old, &Options{BusyTimeout: -1}); !errors.Is(err, ErrMispaired) && !errors.Is(err, ErrBusy) || strings.Contains(err.Error(), "\n") {
					t.Errorf("while the program has it open: %v", err)
				}
				mustNot(t, program.Close())
				mustBeReplaced(t, old)
			})
		}
	}
}

// TestReplacedWithoutFrames writes over a database that is open, and whose log is empty, another
// one that has the same schema cookie, but its tables elsewhere.
func TestReplacedWithoutFrames(t *testing.T) {
	t.Parallel()
	for _, way := range fileReplacers {
		if !way.inPlace {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			dir := t.TempDir()
			old, next := filepath.Join(dir, "old.db"), filepath.Join(dir, "next.db")
			makeReplaced(t, old, "old")
			made := openReplaced(t, next, &Options{Create: true})
			mustNot(t, errors.Join(
				made.Exec(t.Context(), "CREATE TABLE other (a)"), made.Exec(t.Context(), "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"),
				setReplaced(t, made, "new"), made.Close(),
			))
			db := openReplaced(t, old, nil)
			mustNot(t, errors.Join(db.Exec(t.Context(), "CREATE TABLE other (a)"), db.Checkpoint(t.Context(), CheckpointTruncate)))
			if value, err := replacedValue(t, db); value != "old" || err != nil {
				t.Fatalf("%q, %v", value, err)
			}
			mustNot(t, way.do(next, old))
			if value, err := replacedValue(t, db); !errors.Is(err, ErrMoved) {
				t.Errorf("a view: %q, %v", value, err)
			}
			if err := setReplaced(t, db, "odd"); !errors.Is(err, ErrMoved) && !errors.Is(err, ErrFailed) {
				t.Errorf("a commit: %v", err)
			}
			if err := db.Close(); !errors.Is(err, ErrMoved) {
				t.Errorf("Close: %v", err)
			}
			mustBeReplaced(t, old)
		})
	}
}

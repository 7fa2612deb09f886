package neighbour

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// codeBusy is SQLITE_BUSY.
const codeBusy = 5

var modes = []string{"DELETE", "WAL"}

// dial opens a database by C SQLite, which does not wait for locks.
func dial(t *testing.T, path string) *judge.Conn {
	t.Helper()
	if !judge.Available {
		t.Skip("C SQLite: no C compiler in this build")
	}
	c, err := judge.Open("file:" + path + "?_busy_timeout=0&_txlock=deferred")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // most tests do so themselves
	return c
}

// made makes a database of one table with one row.
func made(t *testing.T, mode string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	c := dial(t, path)
	must(t, c, fmt.Sprintf("PRAGMA journal_mode = %s; CREATE TABLE t(a); INSERT INTO t VALUES(1); CREATE TABLE gone(a); DROP TABLE gone", mode))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func must(t *testing.T, c *judge.Conn, query string) {
	t.Helper()
	if err := c.Exec(query); err != nil {
		t.Error(err)
	}
}

// busy checks that C SQLite can neither read nor write.
func busy(t *testing.T, c *judge.Conn, when string) {
	t.Helper()
	if _, err := c.Strings(t.Context(), "SELECT a FROM t"); judge.Code(errors.Unwrap(err)) != codeBusy && judge.Code(err) != codeBusy {
		t.Errorf("%s: reads: %v", when, err)
	}
	for _, query := range []string{"INSERT INTO t VALUES(66)", "BEGIN IMMEDIATE"} {
		if err := c.Exec(query); judge.Code(errors.Unwrap(err)) != codeBusy {
			t.Errorf("%s: %s: %v", when, query, err)
		}
	}
}

// rows checks what C SQLite reads, and that it finds nothing wrong.
func rows(t *testing.T, c *judge.Conn, when string, want ...string) {
	t.Helper()
	got, err := c.Strings(t.Context(), "SELECT a FROM t ORDER BY a")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: rows %v, want %v, %v", when, got, want, err)
	}
	if got, err := c.Strings(t.Context(), "PRAGMA integrity_check"); err != nil || !slices.Equal(got, []string{"ok"}) {
		t.Errorf("%s: %v, %v", when, got, err)
	}
}

func insert(t *testing.T, db *sqlitefile.DB, value any) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert(value)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func open(t *testing.T, path string, exclusive bool) *sqlitefile.DB {
	t.Helper()
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Exclusive: exclusive, BusyTimeout: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func shut(t *testing.T, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// copyDatabase copies a database and its log as they are, which is what a crash would leave.
func copyDatabase(t *testing.T, path string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o644)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return to
}

// TestOursExclusive keeps C SQLite out, be it there already or new; afterwards it reads what was
// written.
func TestOursExclusive(t *testing.T) {
	for _, mode := range modes {
		path := made(t, mode)
		var there *judge.Conn
		if mode == "DELETE" { // where it holds no lock between transactions
			there = dial(t, path)
			rows(t, there, mode, "1")
		}
		db := open(t, path, true)
		insert(t, db, 2)
		if there != nil {
			busy(t, there, mode+", there already")
			if err := db.Compact(t.Context(), nil); !errors.Is(err, sqlitefile.ErrBusy) { // though all that it can do is wait
				t.Errorf("%s: Compact: %v", mode, err)
			}
			shut(t, there)
		}
		refused(t, path, mode)
		left := copyDatabase(t, path)
		if err := db.Compact(t.Context(), nil); err != nil {
			t.Errorf("%s: Compact: %v", mode, err)
		}
		refused(t, path, mode+", compacted")
		insert(t, db, 3)
		refused(t, path, mode+", compacted and changed")
		if _, err := os.Stat(path + "-shm"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", mode, err)
		}
		shut(t, db)
		rows(t, dial(t, path), mode, "1", "2", "3")
		rows(t, dial(t, left), mode+", recovered", "1", "2")
	}
}

// refused checks that C SQLite cannot use a database that it opens now.
func refused(t *testing.T, path, when string) {
	t.Helper()
	c, err := judge.Open("file:" + path + "?_busy_timeout=0")
	switch {
	case err == nil:
		busy(t, c, when)
		shut(t, c)
	case judge.Code(err) != codeBusy: // its driver looks into it at once, if it is in WAL mode
		t.Errorf("%s: %v", when, err)
	}
}

// TestTheirsExclusive keeps ours out; the log that is left when it dies is recovered by ours
// without a wal-index.
func TestTheirsExclusive(t *testing.T) {
	for _, mode := range modes {
		path := made(t, mode)
		c := dial(t, path)
		must(t, c, "PRAGMA locking_mode = EXCLUSIVE; INSERT INTO t VALUES(2)")
		for _, exclusive := range []bool{false, true} {
			o := &sqlitefile.Options{Exclusive: exclusive, BusyTimeout: 30 * time.Millisecond}
			if _, err := sqlitefile.Open(path, o); !errors.Is(err, sqlitefile.ErrBusy) {
				t.Errorf("%s: %v", mode, err)
			}
		}
		left := copyDatabase(t, path)
		must(t, c, "INSERT INTO t VALUES(3)")
		shut(t, c)
		db := open(t, left, true)
		insert(t, db, 4)
		shut(t, db)
		rows(t, dial(t, left), mode+", recovered", "1", "2", "4")
		db = open(t, path, true)
		insert(t, db, 4)
		shut(t, db)
		rows(t, dial(t, path), mode, "1", "2", "3", "4")
	}
}

// TestExclusiveBusy has C SQLite reading, writing, or with its log open: ours does not get the
// database, and disturbs nothing.
func TestExclusiveBusy(t *testing.T) {
	for _, mode := range modes {
		for _, state := range []string{"", "BEGIN; SELECT count(*) FROM sqlite_schema", "BEGIN IMMEDIATE"} {
			path := made(t, mode)
			c := dial(t, path)
			rows(t, c, mode, "1")
			if state != "" {
				must(t, c, state)
			}
			db, err := sqlitefile.Open(path, &sqlitefile.Options{Exclusive: true, BusyTimeout: 30 * time.Millisecond})
			if state == "" && mode == "DELETE" {
				if err != nil {
					t.Fatal(err)
				}
				shut(t, db)
			} else if !errors.Is(err, sqlitefile.ErrBusy) {
				t.Errorf("%s, %q: %v", mode, state, err)
			}
			must(t, c, "INSERT INTO t VALUES(2)")
			if state != "" {
				must(t, c, "COMMIT")
			}
			rows(t, c, mode+state, "1", "2")
			shut(t, c)
		}
	}
}

// TestCompact has C SQLite with the database open, idle or at work: Compact is busy, and nothing
// has changed.
func TestCompact(t *testing.T) {
	for _, mode := range modes {
		for _, state := range []string{"", "BEGIN; SELECT count(*) FROM sqlite_schema", "BEGIN IMMEDIATE"} {
			path := made(t, mode)
			c := dial(t, path)
			rows(t, c, mode, "1")
			if state != "" {
				must(t, c, state)
			}
			must(t, c, "PRAGMA busy_timeout = 5000") // ours holds SHARED for some milliseconds after it has read
			db := open(t, path, false)
			if err := db.Compact(t.Context(), nil); !errors.Is(err, sqlitefile.ErrBusy) {
				t.Errorf("%s, %q: %v", mode, state, err)
			}
			must(t, c, "INSERT INTO t VALUES(2)")
			if state != "" {
				must(t, c, "COMMIT")
			}
			rows(t, c, mode+state, "1", "2")
			shut(t, c)
			if err := db.Compact(t.Context(), nil); err != nil {
				t.Errorf("%s, %q: alone: %v", mode, state, err)
			}
			insert(t, db, 3)
			shut(t, db)
			rows(t, dial(t, path), mode+state, "1", "2", "3")
		}
	}
}

package sqlitefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestNewMode makes databases of nothing and of an empty file: they are in WAL mode unless asked
// otherwise. A database that is there keeps its mode.
func TestNewMode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ask, want JournalMode
		exclusive bool
	}{
		{JournalDefault, JournalWAL, false},
		{JournalDefault, JournalWAL, true},
		{JournalDelete, JournalDelete, false},
		{JournalPersist, JournalPersist, false},
		{JournalWAL, JournalWAL, false},
	} {
		for _, empty := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "db")
			if empty {
				writeFile(t, path, nil)
			}
			db := openOnly(t, path, &Options{Create: true, JournalMode: tt.ask, Exclusive: tt.exclusive})
			if mode, err := db.JournalMode(t.Context()); mode != tt.want || err != nil {
				t.Errorf("asked for %v, before the first transaction: %v, %v; want %v", tt.ask, mode, err, tt.want)
			}
			must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
			mode, err := db.JournalMode(t.Context())
			if mode != tt.want || err != nil {
				t.Errorf("asked for %v: %v, %v; want %v", tt.ask, mode, err, tt.want)
			}
			must.Do(t, db.Close())
			for _, ask := range []JournalMode{JournalDefault, JournalTruncate, JournalWAL} {
				want := map[bool]JournalMode{true: JournalDelete, false: ask}[ask == JournalDefault || ask == JournalWAL]
				if tt.want == JournalWAL {
					want = JournalWAL
				}
				db := openOnly(t, path, &Options{Create: true, JournalMode: ask})
				if mode, err := db.JournalMode(t.Context()); mode != want || err != nil {
					t.Errorf("a database in mode %v, asked for %v: %v, %v; want %v", tt.want, ask, mode, err, want)
				}
				must.Do(t, db.Close())
			}
			if _, err := os.Stat(path + "-wal"); err == nil {
				t.Error("the log is left")
			}
		}
	}
	memory, err := OpenMemory(nil)
	must.Do(t, err)
	if mode, err := memory.JournalMode(t.Context()); mode != JournalDelete || err != nil {
		t.Errorf("in memory: %v, %v", mode, err)
	}
	must.Do(t, memory.Close())
}

// openOnly opens a database that the test closes.
func openOnly(t *testing.T, path string, o *Options) *DB {
	t.Helper()
	db, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestLinks opens a database by two names: in WAL mode, Trace is told.
func TestLinks(t *testing.T) {
	t.Parallel()
	for mode, want := range map[JournalMode]int{JournalWAL: 1, JournalDelete: 0} {
		path := filepath.Join(t.TempDir(), "db")
		db := openOnly(t, path, &Options{Create: true, JournalMode: mode})
		must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
		must.Do(t, db.Close())
		if err := os.Link(path, path+"2"); err != nil {
			t.Skip(err)
		}
		told := 0
		db = openOnly(t, path, &Options{Trace: func(e Event) {
			if e.Kind == EventLinks && e.Err != nil {
				told++
			}
		}})
		must.Do(t, insertOne(db, 1))
		must.Do(t, insertOne(db, 2))
		must.Do(t, db.Close())
		if told != want {
			t.Errorf("mode %v: told %d times, want %d", mode, told, want)
		}
	}
}

// BenchmarkNewMode commits rows one by one, each synced, to a new database of each mode.
func BenchmarkNewMode(b *testing.B) {
	for _, mode := range []JournalMode{JournalDefault, JournalDelete} {
		b.Run(mode.String(), func(b *testing.B) {
			db := open(b, filepath.Join(b.TempDir(), "db"), &Options{Create: true, JournalMode: mode})
			if err := db.Exec(b.Context(), "CREATE TABLE t (a)"); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := insertOne(db, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package sqlitefile

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
)

// TestSpillAgain changes the same pages again and again in one transaction that keeps few of them
// in memory, with parts of it taken back: the log holds each page once for every part that may be
// taken back (S4), and what is committed is what a map says.
func TestSpillAgain(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for seed := range uint64(inQuick(3, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			spillAgain(t, seed)
		})
	}
}

func spillAgain(t *testing.T, seed uint64) {
	path := filepath.Join(t.TempDir(), "db")
	db := open(t, path, &Options{Create: true, PageSize: 512, JournalMode: JournalWAL, Durability: DurabilityNormal, NoMmap: seed%2 == 1, spillBytes: 32 * 512})
	if err := db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	want := make(map[int64]string)
	parts := 1 + int(seed%3)*8
	for range 2 { // the second behind the commit of the first
		err := db.Update(t.Context(), func(tx *Tx) error { return spillParts(tx, r, want, parts) })
		if err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	pages := int64(0)
	view(t, db, func(rx *Rx) error { pages = int64(rx.Info().PageCount); return nil })
	if most := int64(2*parts+3) * pages * (512 + 24); info.Size() > most {
		t.Errorf("the log has %d bytes for %d pages, want at most %d", info.Size(), pages, most)
	}
	wantMap(t, db, want)
	copied := filepath.Join(t.TempDir(), "db") // as a crash leaves it: the log is recovered
	copyFile(t, copied, path)
	copyFile(t, copied+"-wal", path+"-wal")
	wantMap(t, open(t, copied, nil), want)
}

// TestSpillAnew spills into a log that begins anew for it, after readers have looked for pages in
// the one before: its frames have numbers of earlier frames.
func TestSpillAnew(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	for seed := range uint64(inQuick(3, 8)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			db := open(t, filepath.Join(t.TempDir(), "db"), &Options{Create: true, PageSize: 512, JournalMode: JournalWAL, Durability: DurabilityOff, spillBytes: 32 * 512})
			must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"))
			r := rand.New(rand.NewPCG(seed, 2))
			want := make(map[int64]string)
			for range 4 {
				for range 10 {
					update(t, db, func(tx *Tx) error {
						table, err := tx.Table("t")
						must.Do(t, err)
						id := r.Int64N(1000)
						want[id] = "one"
						return table.Put(id, nil, want[id])
					})
				}
				wantMap(t, db, want) // which looks for all pages in the log
				must.Do(t, db.Update(t.Context(), func(tx *Tx) error { return spillParts(tx, r, want, 1+r.IntN(8)) }))
				wantMap(t, db, want)
				must.Do(t, db.Checkpoint(t.Context(), CheckpointFull))
			}
			if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
				t.Errorf("check: %v, %v", report, err)
			}
		})
	}
}

// spillParts makes random changes in parts, of which some are taken back.
func spillParts(tx *Tx, r *rand.Rand, want map[int64]string, parts int) error {
	table, err := tx.Table("t")
	if err != nil {
		return err
	}
	for range parts {
		kept := maps.Clone(want)
		err := tx.Nested(func(*Tx) error {
			for range 4000 / parts {
				id, v := r.Int64N(1000), strings.Repeat(string(rune('a'+r.IntN(26))), 20+r.IntN(60))
				if err := table.Put(id, nil, v); err != nil {
					return err
				}
				want[id] = v
			}
			if r.IntN(3) == 0 {
				return errTakenBack
			}
			return nil
		})
		if errors.Is(err, errTakenBack) {
			clear(want)
			maps.Copy(want, kept)
		} else if err != nil {
			return err
		}
	}
	return nil
}

var errTakenBack = errors.New("taken back")

func wantMap(t *testing.T, db *DB, want map[int64]string) {
	t.Helper()
	got := make(map[int64]string)
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			if got[row.Rowid()], err = row.Text(1); err != nil {
				return err
			}
		}
		return nil
	})
	if !maps.Equal(got, want) {
		t.Errorf("%d rows are not the %d that were written", len(got), len(want))
	}
	if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("%v: %v", err, report)
	}
}

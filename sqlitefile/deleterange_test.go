package sqlitefile

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/race"
)

// rangeSchemas are tables t whose rows DeleteRange deletes in each of its ways.
var rangeSchemas = map[string]string{
	"plain":   "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)",
	"counted": "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT)",
	"indexed": "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX t_v ON t(v DESC)",
	"several": "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, UNIQUE(v, id)); CREATE INDEX t_part ON t(v COLLATE NOCASE) WHERE id % 3 = 0; " +
		"CREATE INDEX t_length ON t(length(v), id)",
	"child":  "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT REFERENCES p(id))",
	"parent": "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); CREATE TABLE c(id INTEGER PRIMARY KEY, r REFERENCES t(id) ON DELETE CASCADE)",
}

// TestDeleteRangeTable deletes ranges of random tables, with parts of the transactions taken back,
// and compares each step with a map.
func TestDeleteRangeTable(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for name, schema := range rangeSchemas {
		for _, autoVacuum := range []int{1, 0, 2}[:inShort(1, 3)] {
			for _, mode := range []JournalMode{JournalWAL, JournalDelete} {
				t.Run(fmt.Sprint(name, autoVacuum, mode), func(t *testing.T) {
					t.Parallel()
					path := scripted(t, fmt.Sprintf("PRAGMA page_size=512; PRAGMA auto_vacuum=%d; %s", autoVacuum, schema))
					db := open(t, path, &Options{Durability: DurabilityOff, spillBytes: 32 * 512, ForeignKeys: name == "parent" || name == "child"})
					must.Do(t, db.SetJournalMode(t.Context(), mode))
					deleteRanges(t, db, rand.New(rand.NewPCG(seed, uint64(autoVacuum))), name)
					must.Do(t, db.Checkpoint(t.Context(), CheckpointTruncate))
					checkShell(t, path, "PRAGMA integrity_check", "ok")
				})
			}
		}
	}
}

func deleteRanges(t *testing.T, db *DB, r *rand.Rand, name string) {
	want := make(map[int64]string)
	for range inShort(4, 12) {
		before := maps.Clone(want)
		err := db.Update(t.Context(), func(tx *Tx) error {
			if err := putRange(tx, r, want, 800, name == "child"); err != nil {
				return err
			}
			for range 3 {
				kept := maps.Clone(want)
				err := tx.Nested(func(tx *Tx) error { return deleteRange(tx, r, want) })
				if errors.Is(err, errTakenBack) {
					want = kept
				} else if err != nil {
					return err
				}
			}
			if r.IntN(5) == 0 {
				return errTakenBack
			}
			return nil
		})
		if errors.Is(err, errTakenBack) {
			want = before
		} else {
			must.Do(t, err)
		}
		wantMap(t, db, want)
	}
}

// putRange puts n rows near each other, a few of them with overflow pages.
func putRange(tx *Tx, r *rand.Rand, want map[int64]string, n int, null bool) error {
	table, err := tx.Table("t")
	if err != nil {
		return err
	}
	for range n {
		id, v := r.Int64N(3000)-500, strings.Repeat(string(rune('A'+r.IntN(50))), crashBody(r))
		if null {
			v = ""
		}
		want[id] = v
		if err := table.Put(id, nil, nilIf(v, null)); err != nil {
			return err
		}
	}
	return nil
}

func nilIf(v string, null bool) any {
	if null {
		return nil
	}
	return v
}

// deleteRange deletes a range, short or long, and sometimes fails then.
func deleteRange(tx *Tx, r *rand.Rand, want map[int64]string) error {
	table, err := tx.Table("t")
	if err != nil {
		return err
	}
	low := r.Int64N(3500) - 700
	high := low + r.Int64N(1500)
	switch r.IntN(10) {
	case 0:
		low = math.MinInt64
	case 1:
		high = math.MaxInt64
	case 2:
		high = low + r.Int64N(5)
	case 3:
		high = low - 1
	}
	before := len(want)
	maps.DeleteFunc(want, func(id int64, _ string) bool { return low <= id && id <= high })
	n, err := table.DeleteRange(low, high)
	if err == nil && n != int64(before-len(want)) {
		err = fmt.Errorf("%d to %d: %d rows, want %d", low, high, n, before-len(want))
	}
	if err == nil && r.IntN(3) == 0 {
		err = errTakenBack
	}
	return err
}

// TestDeleteRangePages wants a commit of a long range to write few pages: leaves that are dropped
// are not written.
func TestDeleteRangePages(t *testing.T) {
	t.Parallel()
	for _, spill := range []int64{0, 16 * 512} {
		written := 0
		db := open(t, filepath.Join(t.TempDir(), "db"), &Options{
			Create: true, PageSize: 512, JournalMode: JournalWAL, Durability: DurabilityOff, spillBytes: spill,
			Trace: func(e Event) {
				if e.Kind == EventCommit {
					written += e.Pages
				}
			},
		})
		must.Do(t, db.Exec(t.Context(), "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT)"))
		const rows = 20000
		change := func(fn func(table TableWriter) error) {
			update(t, db, func(tx *Tx) error {
				table, err := tx.Table("t")
				if err != nil {
					return err
				}
				return fn(table)
			})
		}
		change(func(table TableWriter) error {
			for i := range int64(rows) {
				if err := table.InsertRowid(i, nil, "forty bytes, so that a leaf has ten rows"); err != nil {
					return err
				}
			}
			return nil
		})
		written = 0
		change(func(table TableWriter) error {
			n, err := table.DeleteRange(5, rows-5)
			if err == nil && n != rows-9 {
				err = fmt.Errorf("%d rows", n)
			}
			return err
		})
		// 120 leaves fit in a trunk of the freelist.
		if leaves := rows / 10; written > leaves/20 {
			t.Errorf("%d pages were written for %d leaves", written, leaves)
		}
		if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
			t.Errorf("%v: %v", err, report)
		}
	}
}

// TestDeleteRangeMisuse: a table without rowids has no ranges, and nothing is in a range that ends
// before it begins.
func TestDeleteRangeMisuse(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "db"), &Options{Create: true, Durability: DurabilityOff})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TABLE k(id INTEGER PRIMARY KEY) WITHOUT ROWID"))
	update(t, db, func(tx *Tx) error {
		k, err := tx.Table("k")
		if err != nil {
			return err
		}
		if _, err := k.DeleteRange(1, 2); err == nil {
			t.Error("a range of a table without rowids was deleted")
		}
		table, err := tx.Table("t")
		if err != nil {
			return err
		}
		if _, err := table.Insert(1); err != nil {
			return err
		}
		if n, err := table.DeleteRange(math.MaxInt64, math.MinInt64); n != 0 || err != nil {
			t.Errorf("%d rows, %v", n, err)
		}
		return nil
	})
}

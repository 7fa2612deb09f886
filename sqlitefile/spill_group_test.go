package sqlitefile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

var spillSeeds = flag.Uint64("spill.seeds", 24, "how often TestSpillTogether runs in each mode")

// wantRecovered compares the database, and then a copy of it that is recovered as after a crash.
func wantRecovered(t *testing.T, db *DB, want map[int64]string) {
	t.Helper()
	wantMap(t, db, want)
	copied := filepath.Join(t.TempDir(), "db")
	copyFile(t, copied, db.Path())
	if _, err := os.Stat(db.Path() + "-wal"); err == nil {
		copyFile(t, copied+"-wal", db.Path()+"-wal")
	}
	wantMap(t, open(t, copied, nil), want)
}

func openSpilling(t *testing.T, mode JournalMode) *DB {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "db"), &Options{Create: true, PageSize: 512, JournalMode: mode, Durability: DurabilityOff, spillBytes: 16 * 512})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"))
	return db
}

// putMany puts n rows from one on.
func putMany(tx *Tx, want map[int64]string, from, n int64) error {
	table, err := tx.Table("t")
	if err != nil {
		return err
	}
	for id := from; id < from+n; id++ {
		v := strings.Repeat(fmt.Sprint(id, " "), 20)
		if want != nil {
			want[id] = v
		}
		if err := table.Put(id, nil, v); err != nil {
			return err
		}
	}
	return nil
}

// TestSpillBehindAnother lets a transaction spill and fail, as a whole or in a part, that began
// while one that had spilled before it was not committed yet: going back must not take anything
// from that one.
func TestSpillBehindAnother(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(tx *Tx, want map[int64]string) error{
		"fails": func(tx *Tx, _ map[int64]string) error {
			if err := putMany(tx, nil, 500, 500); err != nil {
				return err
			}
			return errTakenBack
		},
		"a part fails": func(tx *Tx, want map[int64]string) error {
			err := tx.Nested(func(tx *Tx) error {
				if err := putMany(tx, nil, 500, 500); err != nil {
					return err
				}
				return errTakenBack
			})
			if !errors.Is(err, errTakenBack) {
				return err
			}
			return putMany(tx, want, 2000, 1)
		},
		"fails at once": func(*Tx, map[int64]string) error { return errTakenBack },
		"changes little and fails": func(tx *Tx, _ map[int64]string) error {
			if err := putMany(tx, nil, 2000, 1); err != nil {
				return err
			}
			return errTakenBack
		},
		"is small": func(tx *Tx, want map[int64]string) error { return putMany(tx, want, 2000, 1) },
		"is kept":  func(tx *Tx, want map[int64]string) error { return putMany(tx, want, 500, 500) },
	} {
		for _, mode := range []JournalMode{JournalWAL, JournalDelete, JournalPersist} {
			t.Run(fmt.Sprint(name, " ", mode), func(t *testing.T) {
				t.Parallel()
				db, want := openSpilling(t, mode), make(map[int64]string)
				spillBehind(t, db, want, second)
				wantRecovered(t, db, want)
				update(t, db, func(tx *Tx) error { return putMany(tx, want, 3000, 3) })
				wantRecovered(t, db, want)
				if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
					t.Errorf("check: %v, %v", report, err)
				}
			})
		}
	}
}

// spillBehind runs two transactions, the second before the first is committed.
func spillBehind(t *testing.T, db *DB, want map[int64]string, second func(tx *Tx, want map[int64]string) error) {
	release := db.pager.Probe().HoldCommits()
	ctx, errs := context.Background(), make(chan error, 2)
	ran := make(chan struct{})
	go func() {
		errs <- db.Update(ctx, func(tx *Tx) error {
			defer close(ran)
			return putMany(tx, want, 0, 1000)
		})
	}()
	<-ran
	err := db.Update(ctx, func(tx *Tx) error {
		defer release()
		return second(tx, want)
	})
	if err != nil && !errors.Is(err, errTakenBack) {
		t.Error(err)
	}
	must.Do(t, <-errs)
}

// TestSpillAll lets a transaction end with nothing in memory: what was spilled must end with a
// frame that commits it.
func TestSpillAll(t *testing.T) {
	t.Parallel()
	db, want := openSpilling(t, JournalWAL), make(map[int64]string)
	update(t, db, func(tx *Tx) error { return putMany(tx, want, 0, 500) })
	for n := range 5 {
		update(t, db, func(tx *Tx) error {
			return tx.Nested(func(tx *Tx) error {
				table, err := tx.Table("t")
				must.Do(t, err)
				for id := int64(0); id < 200 || int64(tx.pages.Held()*512) < db.options.spillBytes; id++ {
					want[id] = strings.Repeat(string(rune('a'+n)), len(want[id])) // so that no page comes and none goes
					must.Do(t, table.Put(id, nil, want[id]))
				}
				_, _, err = table.LastRowid() // changes nothing, but spills
				return err
			})
		})
		wantRecovered(t, db, want)
	}
}

// TestSpillTogether lets goroutines change rows of their own, much or little, with parts taken back
// and all taken back at random, while other changes wait to be committed.
func TestSpillTogether(t *testing.T) {
	t.Parallel()
	for seed := range uint64(inQuick(min(2, int(*spillSeeds)), inShort(min(5, int(*spillSeeds)), int(*spillSeeds)))) {
		for _, mode := range []JournalMode{JournalWAL, JournalTruncate} {
			t.Run(fmt.Sprint(seed, " ", mode), func(t *testing.T) {
				t.Parallel()
				db := openSpilling(t, mode)
				wants := make([]map[int64]string, 1+seed%4)
				for range 3 {
					var wg sync.WaitGroup
					for g := range wants {
						r := rand.New(rand.NewPCG(seed, uint64(g)))
						wg.Go(func() { wants[g] = changeOwn(t, db, r, int64(g)*10_000, wants[g]) })
					}
					wg.Wait()
					all := make(map[int64]string)
					for _, want := range wants {
						maps.Copy(all, want)
					}
					wantRecovered(t, db, all)
				}
				if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
					t.Errorf("check: %v, %v", report, err)
				}
			})
		}
	}
}

// changeOwn makes changes to rows from one on, and returns what is there then.
func changeOwn(t *testing.T, db *DB, r *rand.Rand, from int64, have map[int64]string) map[int64]string {
	for range 6 {
		want := maps.Clone(have)
		if want == nil {
			want = make(map[int64]string)
		}
		err := db.Update(t.Context(), func(tx *Tx) (err error) {
			want, err = changeParts(tx, r, from, want, 0)
			return err
		})
		switch {
		case err == nil:
			have = want
		case !errors.Is(err, errTakenBack):
			t.Error(err)
		}
	}
	return have
}

// changeParts makes changes within changes, and returns what is there then, or errTakenBack.
func changeParts(tx *Tx, r *rand.Rand, from int64, have map[int64]string, depth int) (map[int64]string, error) {
	for range 1 + r.IntN(3) {
		part := maps.Clone(have)
		err := putMany(tx, part, from+r.Int64N(400), 1+r.Int64N(1<<r.IntN(9)))
		if err != nil {
			return nil, err
		}
		if have = part; depth == 3 {
			continue
		}
		err = tx.Nested(func(tx *Tx) (err error) {
			part, err = changeParts(tx, r, from, have, depth+1)
			return err
		})
		if err == nil {
			have = part
		} else if !errors.Is(err, errTakenBack) {
			return nil, err
		}
	}
	if r.IntN(3) == 0 {
		return nil, errTakenBack
	}
	return have, nil
}

package sqlitefile

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

var readOnlySeeds = flag.Int("readonly.seeds", 60, "random histories of TestReadOnlyHistory")

// A readingSystem is the operating system as a process sees it that may read files, and may do
// nothing else with them.
type readingSystem struct {
	osfile.System
	tb testing.TB
}

func (s readingSystem) Open(name string, flag int, perm fs.FileMode) (osfile.Handle, error) {
	if flag != osfile.ReadOnly {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return s.System.Open(name, flag, perm)
}

func (s readingSystem) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	if flag != osfile.ReadOnly {
		return nil, &fs.PathError{Op: "open", Path: db.Name() + suffix, Err: fs.ErrPermission}
	}
	return s.System.OpenSide(db, suffix, flag)
}

func (s readingSystem) Remove(name string) error {
	s.tb.Error("removes", name)
	return fs.ErrPermission
}

func (s readingSystem) Rename(from, to string) error {
	s.tb.Error("renames", from, to)
	return fs.ErrPermission
}

func (s readingSystem) SyncDir(name string) error {
	s.tb.Error("syncs the directory of", name)
	return fs.ErrPermission
}

// readingOptions are those of a DB that may only read.
func readingOptions(tb testing.TB, plain bool) *Options {
	return &Options{NoMmap: plain, BusyTimeout: patience, system: readingSystem{osfile.OS, tb}}
}

// The ledger of these tests is a table whose rows, in many pages, add up to 0, apart from row 0,
// which counts the transactions.
const ledgerRows = 40

func newLedger(tb testing.TB, path string, mode JournalMode) {
	tb.Helper()
	db, err := Open(path, &Options{Create: true, PageSize: 512, JournalMode: mode})
	if err == nil {
		err = errors.Join(db.Exec(tb.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, n, filling)"),
			db.Update(tb.Context(), func(tx *Tx) error {
				t, err := tx.Table("t")
				for id := range int64(ledgerRows) {
					err = errors.Join(err, t.Put(id, nil, 0, make([]byte, 300)))
				}
				return err
			}), db.Close())
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// enterLedger commits one more transaction.
func enterLedger(tb testing.TB, db *DB, rng *rand.Rand) error {
	return db.Update(tb.Context(), func(tx *Tx) error {
		t, err := tx.Table("t")
		if err != nil {
			return err
		}
		add := func(id, n int64) {
			row, _, e := t.Get(id)
			if err = errors.Join(err, e); err == nil {
				old, e := row.Int64(1)
				err = errors.Join(e, t.Put(id, nil, old+n, make([]byte, rng.IntN(600))))
			}
		}
		add(0, 1)
		for range 3 {
			amount := rng.Int64N(100)
			add(1+rng.Int64N(ledgerRows-1), amount)
			add(1+rng.Int64N(ledgerRows-1), -amount)
		}
		return err
	})
}

// readLedger returns how many transactions there are.
func readLedger(rx *Rx) (count int64, err error) {
	t, err := rx.Table("t")
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for row, err := range t.All() {
		if err != nil {
			return 0, err
		}
		n, err := row.Int64(1)
		if err != nil {
			return 0, err
		}
		if sum += n; row.Rowid() == 0 {
			count, sum = n, 0
		}
	}
	if sum != 0 {
		err = fmt.Errorf("the rows of transaction %d add up to %d", count, sum)
	}
	return count, err
}

// A readOnlyHistory is a random one of a ledger that DBs with all rights and DBs that may only read
// have open.
type readOnlyHistory struct {
	*testing.T
	rng     *rand.Rand
	path    string
	count   int64
	writers []*DB
	readers []*ledgerReader
	seen    map[wal.Access]int
	changed int
}

// A ledgerReader is a DB that may only read, and perhaps a transaction of it.
type ledgerReader struct {
	*DB
	rx    *Rx
	count int64 // when rx began
}

// TestReadOnlyHistory reads without the right to write while other processes open, write, copy back
// and close the database. Each view must see all that is committed. One that is open meanwhile must
// see what it saw, or fail with ErrChanged.
func TestReadOnlyHistory(t *testing.T) {
	t.Parallel()
	seen, changed := make(map[wal.Access]int), 0
	for seed := range inQuick(min(6, *readOnlySeeds), inShort(min(20, *readOnlySeeds), *readOnlySeeds)) {
		h := &readOnlyHistory{T: t, rng: rand.New(rand.NewPCG(uint64(seed), 1)), path: filepath.Join(t.TempDir(), "l.db"), seen: seen}
		newLedger(t, h.path, []JournalMode{JournalDelete, JournalWAL}[h.rng.IntN(2)])
		for step := range 120 {
			if err := h.step(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
		}
		h.end()
		changed += h.changed
	}
	t.Logf("views by access: %v; %d changed beneath", seen, changed)
	for _, access := range []wal.Access{wal.AccessShared, wal.AccessJoined, wal.AccessPrivate, wal.AccessWatched} {
		if seen[access] == 0 {
			t.Errorf("no view was of access %d", access)
		}
	}
}

func (h *readOnlyHistory) step() error {
	switch n := h.rng.IntN(20); {
	case n < 1 && len(h.writers) < 2:
		db, err := Open(h.path, &Options{BusyTimeout: time.Millisecond, Durability: DurabilityOff})
		h.writers = append(h.writers, db)
		return err
	case n < 3 && len(h.writers) > 0:
		db := h.writers[0]
		h.writers = h.writers[1:]
		return db.Close()
	case n < 8 && len(h.writers) > 0:
		return h.write(h.writers[h.rng.IntN(len(h.writers))])
	case n < 10 && len(h.readers) < 3:
		db, err := Open(h.path, readingOptions(h, h.rng.IntN(2) == 0))
		h.readers = append(h.readers, &ledgerReader{DB: db})
		return err
	case n < 12 && len(h.readers) > 0:
		return h.dropReader()
	case n >= 12 && len(h.readers) > 0:
		return h.read(h.readers[h.rng.IntN(len(h.readers))])
	}
	return nil
}

func (h *readOnlyHistory) write(db *DB) error {
	var err error
	switch h.rng.IntN(6) {
	case 0:
		err = db.Checkpoint(h.Context(), CheckpointMode(h.rng.IntN(4)))
	case 1:
		err = db.SetJournalMode(h.Context(), []JournalMode{JournalDelete, JournalWAL}[h.rng.IntN(2)])
	default:
		if err = enterLedger(h, db, h.rng); err == nil {
			h.count++
		}
	}
	if errors.Is(err, ErrBusy) { // a view stands in the way
		return nil
	}
	return err
}

func (h *readOnlyHistory) dropReader() error {
	r := h.readers[0]
	h.readers = h.readers[1:]
	if r.rx != nil {
		r.rx.End()
	}
	return r.Close()
}

// read begins a view, reads in one, or ends it.
func (h *readOnlyHistory) read(r *ledgerReader) error {
	if r.rx == nil || h.rng.IntN(4) == 0 {
		return h.fresh(r)
	}
	count, err := readLedger(r.rx)
	switch {
	case errors.Is(err, ErrChanged):
		h.changed++
	case err != nil || count != r.count:
		return fmt.Errorf("%d transactions, %w, want %d as before", count, err, r.count)
	}
	if h.rng.IntN(3) == 0 {
		r.rx.End()
		r.rx = nil
	}
	return nil
}

// fresh reads in a new view, and may keep it.
func (h *readOnlyHistory) fresh(r *ledgerReader) error {
	rx, err := r.BeginView(h.Context())
	if err != nil {
		return err
	}
	if log := rx.pager.Log(); log != nil {
		h.seen[log.Access]++
	} else {
		h.seen[wal.AccessShared]++
	}
	if h.rng.IntN(2) == 0 {
		if count, err := readLedger(rx); err != nil || count != h.count {
			return fmt.Errorf("%d transactions, %w, want %d", count, err, h.count)
		}
	}
	if r.rx != nil || h.rng.IntN(2) == 0 {
		rx.End()
		return nil
	}
	r.rx, r.count = rx, h.count
	return nil
}

func (h *readOnlyHistory) end() {
	for len(h.readers) > 0 {
		if err := h.dropReader(); err != nil {
			h.Error(err)
		}
	}
	for _, db := range h.writers {
		if err := db.Close(); err != nil {
			h.Error(err)
		}
	}
}

package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/osfile/faultfs"
)

// commitFaults are the errors that one operation of a commit gets.
var commitFaults = []syscall.Errno{syscall.EACCES, syscall.EIO, syscall.ENOSPC, syscall.EMFILE, syscall.ENOMEM, syscall.ESTALE}

// A commitRun commits one transaction, of which one operation fails.
type commitRun struct {
	t          *testing.T
	mode       JournalMode
	durability Durability
	before     int // commits that succeed before
	rows       int // that the transaction inserts
	exclusive  bool
	fault      faultfs.Fault
	sys        *faultfs.System
	db         *DB
}

// TestCommitPoint lets each operation of a commit fail once, in each journal mode and durability.
// Update returns an error exactly if nothing of the transaction has happened. Only after a failed
// sync may it be unknown. The handle goes on unless a sync has failed.
func TestCommitPoint(t *testing.T) {
	t.Parallel()
	for _, mode := range []JournalMode{JournalWAL, JournalDelete, JournalTruncate, JournalPersist} {
		for _, durability := range []Durability{DurabilityOff, DurabilityNormal, DurabilityFull, DurabilityExtra} {
			t.Run(fmt.Sprintf("%d %d", mode, durability), func(t *testing.T) {
				t.Parallel()
				for i, errno := range commitFaults {
					if (testing.Short() || invariant.Enabled) && i != int(durability) {
						continue
					}
					for _, r := range []commitRun{{rows: 1}, {before: 2, rows: 1}, {before: 1, rows: 200}, {before: 1, rows: 2, exclusive: true}} {
						r.t, r.mode, r.durability, r.fault = t, mode, durability, faultfs.Fault{Err: errno, Ops: faultfs.Any | faultfs.OpenDir}
						r.each()
					}
				}
			})
		}
	}
}

// each lets one operation after the other fail.
func (r commitRun) each() {
	for n := 1; ; n++ {
		r.fault.N = n
		hits, err := r.once()
		if err != nil {
			r.t.Errorf("%d commits before, %d rows: %q with %v: %v", r.before, r.rows, hits, r.fault.Err, err)
		}
		if len(hits) == 0 {
			return
		}
		faultPoints.Add(1)
	}
}

// once is a run with one fault. It returns the operations that failed.
func (r commitRun) once() (hits []string, err error) {
	r.sys = faultfs.New(crashfs.New())
	options := &Options{Create: true, JournalMode: r.mode, Durability: r.durability, Exclusive: r.exclusive, spillBytes: 16 << 10, system: r.sys, BusyTimeout: time.Second}
	r.open(options)
	defer func() { r.db.Close() }()
	must.Do(r.t, r.db.Exec(context.Background(), "CREATE TABLE t (a, b)"))
	if r.before == 0 { // so that the log or the journal must be made
		must.Do(r.t, r.db.Close())
		r.open(options)
	}
	for range r.before {
		must.Do(r.t, r.insert(1))
	}
	r.sys.Arm(r.fault)
	failed := r.insert(r.rows)
	hits = r.sys.Hits()
	r.sys.Heal()
	want := r.before
	if failed == nil {
		want += r.rows
	}
	unknown := errors.Is(failed, ErrFailed)
	if unknown && !strings.HasPrefix(hits[0], "sync ") {
		return hits, fmt.Errorf("ends writing: %w", failed)
	}
	if err := r.count(want, unknown); err != nil {
		return hits, fmt.Errorf("after the answer %v: %w", failed, err)
	}
	if err := r.insert(1); !unknown {
		if err != nil {
			return hits, fmt.Errorf("the next commit, after the answer %v: %w", failed, err)
		}
		want++
	}
	if err := r.db.Close(); err != nil {
		return hits, fmt.Errorf("close: %w", err)
	}
	r.open(options)
	if err := r.count(want, unknown); err != nil {
		return hits, fmt.Errorf("opened again, after the answer %v: %w", failed, err)
	}
	return hits, nil
}

func (r *commitRun) open(o *Options) {
	db, err := Open("/db", o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.db = db
}

func (r commitRun) insert(rows int) error {
	return r.db.Update(context.Background(), func(tx *Tx) error {
		table, err := tx.Table("t")
		for i := 0; err == nil && i < rows; i++ {
			_, err = table.Insert(i, strings.Repeat("x", 300))
		}
		return err
	})
}

// count compares the number of rows, which may be that with the transaction if unknown is true.
func (r commitRun) count(want int, unknown bool) error {
	return r.db.View(context.Background(), func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		got := 0
		for _, err := range table.All() {
			if err != nil {
				return err
			}
			got++
		}
		if got != want && (!unknown || got != want+r.rows) {
			return fmt.Errorf("%d rows, want %d", got, want)
		}
		return nil
	})
}

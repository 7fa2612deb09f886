package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile/crashfs"
	"github.com/foliofs/folio/internal/race"
)

// TestKill kills a process in place of each operation of its work, with another process that goes
// on with the same files and, in WAL mode, the same wal-index: that one finds everything that was
// acknowledged, and the last transaction as a whole or not at all, and writes on.
func TestKill(t *testing.T) {
	race.Skip(t, "it runs processes")
	t.Parallel()
	for _, mode := range []JournalMode{JournalDelete, JournalTruncate, JournalPersist, JournalWAL} {
		for _, tight := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, tight %v", mode, tight), func(t *testing.T) {
				t.Parallel()
				stride, points := *faultStride, 0
				if stride == 0 {
					stride = inQuick(11, 3)
				}
				for n := 1; killAt(t, mode, tight, n); n += stride {
					points++
				}
				t.Logf("%d points", points)
			})
		}
	}
}

// killAt kills a process at its n-th operation, and reports whether it came to that. On a tight
// disk it fills and frees the room.
func killAt(t *testing.T, mode JournalMode, tight bool, n int) bool {
	t.Helper()
	fs, step := crashfs.New(), addRow
	if tight {
		fs, step = crashfs.New(crashfs.WithFreeSpace(tightDisk)), fillOrFree
	}
	o := Options{Create: true, PageSize: 512, JournalMode: mode, BusyTimeout: 10 * time.Second, system: fs}
	survivor, err := Open(crashPath, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := survivor.Exec(t.Context(), "CREATE TABLE t(a); CREATE INDEX ta ON t(a); CREATE TABLE large(a)"); err != nil {
		t.Fatal(err)
	}
	process := fs.Process()
	process.KillAt(n)
	o.system = process
	acked := work(&o, step)
	for round := range 2 {
		if err := checkRows(survivor, acked+round, acked+round+1); err != nil {
			t.Fatalf("mode %d, killed at operation %d, round %d: %v\n%s", mode, n, round, err, crashfs.Trace(fs.Ops(max(0, fs.Count()-30)), 0xffff))
		}
		err := errors.Join(step(survivor), survivor.Checkpoint(t.Context(), CheckpointRestart))
		if report, e := survivor.Check(t.Context(), nil); e != nil || !report.OK() {
			err = errors.Join(err, e, fmt.Errorf("%v", report))
		}
		if err != nil {
			t.Fatalf("mode %d, killed at operation %d: %v\n%s", mode, n, err, crashfs.Trace(fs.Ops(max(0, fs.Count()-30)), 0xffff))
		}
	}
	if err := survivor.Close(); err != nil {
		t.Fatalf("mode %d, killed at operation %d: %v", mode, n, err)
	}
	if ops := fs.Ops(0); tight && !process.Dead() && !slices.ContainsFunc(ops, func(op crashfs.Op) bool { return op.Kind == crashfs.Punch }) {
		t.Error("nothing was punched")
	}
	if fs.Locks() > 0 {
		t.Fatalf("mode %d, killed at operation %d: %d locks are left", mode, n, fs.Locks())
	}
	return process.Dead()
}

// work commits some transactions in a goroutine that may be killed, and returns how many were
// acknowledged.
func work(o *Options, step func(db *DB) error) (acked int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		db, err := Open(crashPath, o)
		if err != nil {
			return
		}
		defer db.pager.Probe().Bury()
		for range 4 {
			if step(db) != nil {
				return
			}
			acked++
			if acked == 2 {
				_ = db.Checkpoint(context.Background(), CheckpointPassive) // may be in the way of the other one
			}
		}
		_ = db.Close()
	}()
	<-done
	return acked
}

// fillOrFree adds a row to one table, and a large one to another, or takes that away.
func fillOrFree(db *DB) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		tx.UseReserve()
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert(make([]byte, 700))
		}
		if err != nil {
			return err
		}
		large, err := tx.Table("large")
		if err != nil {
			return err
		}
		n, err := large.DeleteRange(0, math.MaxInt64)
		if err == nil && n == 0 {
			_, err = large.Insert(make([]byte, 20<<10))
		}
		return err
	})
}

// addRow adds a row.
func addRow(db *DB) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			_, err = table.Insert(make([]byte, 700))
		}
		return err
	})
}

// checkRows checks that there are at least low and at most high rows.
func checkRows(db *DB, low, high int) error {
	rows := 0
	err := db.View(context.Background(), countRows(&rows))
	if err == nil && (rows < low || rows > high) {
		err = fmt.Errorf("%d rows, want %d to %d", rows, low, high)
	}
	return err
}

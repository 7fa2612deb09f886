package sqlitefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/faultfs"
	"github.com/foliofs/folio/internal/wal"
)

// What a connection leaves in the wal-index that dies between two stores, and what other
// connections may make of it.

// logged makes a database in WAL mode with a table t of rows 1 to n.
func logged(t *testing.T, n int64, o Options) (path string, db *DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "t.db")
	o.Create, o.JournalMode = true, JournalWAL
	db = open(t, path, &o)
	if err := db.Exec(t.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY, b)"); err != nil {
		t.Fatal(err)
	}
	putRows(t, db, 1, n)
	return path, db
}

// putRows puts rows, each in a transaction of its own.
func putRows(t *testing.T, db *DB, from, to int64) {
	t.Helper()
	for i := from; i <= to; i++ {
		update(t, db, putRow(i, strings.Repeat("x", 700)))
	}
}

func putRow(id int64, text string) func(tx *Tx) error {
	return func(tx *Tx) error {
		table, err := tx.Table("t")
		if err == nil {
			err = table.Put(id, nil, text)
		}
		return err
	}
}

// dieStoring appends a page to the log as a peer does that is killed between its stores of the two
// copies of the header: the second one is new, the first one old.
func dieStoring(t *testing.T, path string, p wal.Page, pages uint32) {
	t.Helper()
	w, err := wal.Open(osfile.OS, handleOf(t, path), len(p.Data), false, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if err := w.Index.Lock(osfile.Exclusive, format.WALWriteLock, 1); err != nil {
		t.Fatal(err)
	}
	defer w.Index.Unlock(format.WALWriteLock, 1) // as the system does
	h, err := w.Header()
	if err != nil {
		t.Fatal(err)
	}
	tail := wal.Tail{Header: h, Last: h.MaxFrame, Sum: h.Frame}
	if err := w.AppendTail(&tail, []wal.Page{p}, pages, osfile.Handle.Sync); err != nil {
		t.Fatal(err)
	}
	h.MaxFrame, h.Frame = tail.Last, tail.Sum
	h.Change++
	for i, word := range h.Words() {
		atomic.StoreUint32(&w.Index.Head[format.WALIndexCopyWord+i], word)
	}
}

// A Header of which only one copy is new is none: whoever writes next goes on where the old one
// says, and never begins the log anew beneath readers.
func TestDeathStoringHeader(t *testing.T) {
	path, db := logged(t, 50, Options{})
	rx, err := db.BeginView(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page, err := rx.pager.WholePage(2)
	if err != nil {
		t.Fatal(err)
	}
	dieStoring(t, path, wal.Page{Pgno: 2, Data: append([]byte(nil), page...)}, rx.pager.PageCount)
	update(t, db, putRow(51, "mine"))
	n := 0
	if err := rx.Guard(func() error { return countRows(&n)(rx) }); err != nil || n != 50 {
		t.Errorf("who read before: %d rows, %v", n, err)
	}
	rx.End()
	wantRows(t, db, 51)
	if r, err := db.Check(t.Context(), nil); err != nil || !r.OK() {
		t.Error(err, r)
	}
}

// Who recovers the log does not disturb those who read in it.
func TestRecoveryUnderReader(t *testing.T) {
	path, db := logged(t, 25, Options{})
	if err := db.Checkpoint(t.Context(), CheckpointRestart); err != nil {
		t.Fatal(err)
	}
	putRows(t, db, 26, 50)
	reader := open(t, path, nil)
	rx, err := reader.BeginView(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rx.End()
	view(t, db, func(rx *Rx) error {
		page, err := rx.pager.WholePage(2)
		if err == nil {
			dieStoring(t, path, wal.Page{Pgno: 2, Data: append([]byte(nil), page...)}, rx.pager.PageCount)
		}
		return err
	})
	sys := faultfs.New(osfile.OS)
	n := 0
	sys.Arm(faultfs.Fault{Ops: faultfs.Read, Suffix: "-wal", N: 8, Do: func() {
		err = rx.Guard(func() error { return countRows(&n)(rx) })
	}})
	open(t, path, &Options{system: sys}) // recovers
	if len(sys.Hits()) == 0 {
		t.Fatal("nothing was recovered")
	}
	if err != nil || n != 50 {
		t.Errorf("meanwhile a reader of 50 rows sees %d, %v", n, err)
	}
}

// A peer that dies while it begins the log anew leaves nothing of the new log for copied.
func TestDeathRestarting(t *testing.T) {
	path, db := logged(t, 50, Options{})
	if err := db.Checkpoint(t.Context(), CheckpointFull); err != nil {
		t.Fatal(err)
	}
	x, err := wal.OpenIndex(osfile.OS, handleOf(t, path))
	if err != nil {
		t.Fatal(err)
	}
	h, ok, err := x.Load()
	if err != nil || !ok || x.Backfill() != h.MaxFrame {
		t.Fatal(ok, err, x.Backfill(), h.MaxFrame)
	}
	h.MaxFrame, h.Salt = 0, [2]uint32{h.Salt[0] + 1, wal.RandomWord()} // as SQLite does, which changes backfill after that
	if err := dberr.Join(x.Store(&h), x.Close()); err != nil {
		t.Fatal(err)
	}
	second, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	update(t, second, putRow(51, "mine"))
	eventually(t, "the log is copied", func() bool {
		frames, copied, err := second.pager.Probe().Checkpoint()
		return err == nil && copied == frames
	})
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	wantRows(t, db, 51)
	if size := fileSize(t, path); size < 51*700 {
		t.Errorf("%d bytes after a checkpoint", size)
	}
}

// A transaction for which the index finds no room has not happened, also not after a crash.
func TestIndexFull(t *testing.T) {
	sys := faultfs.New(osfile.OS)
	path, db := logged(t, 0, Options{PageSize: 512, system: sys})
	rx, err := db.BeginView(t.Context()) // keeps the log from beginning anew
	if err != nil {
		t.Fatal(err)
	}
	defer rx.End()
	sys.Arm(faultfs.Fault{Ops: faultfs.Write | faultfs.Truncate, Suffix: "-shm", N: 1, Sticky: true, Err: syscall.ENOSPC})
	acknowledged := 0
	for err == nil {
		if err = db.Update(t.Context(), putRow(int64(acknowledged), strings.Repeat("y", 3000))); err == nil {
			acknowledged++
		}
	}
	if !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	wantRows(t, db, acknowledged)
	crashed := filepath.Join(t.TempDir(), "t.db")
	for _, suffix := range []string{"", "-wal"} {
		copyFile(t, crashed+suffix, path+suffix)
	}
	wantRows(t, open(t, crashed, nil), acknowledged)
}

// In WAL mode a database that could not open its log is no reader for ever.
func TestEnterWALFails(t *testing.T) {
	sys := faultfs.New(osfile.OS)
	path := filepath.Join(t.TempDir(), "t.db")
	db := open(t, path, &Options{Create: true, system: sys})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a)"); err != nil {
		t.Fatal(err)
	}
	sys.Arm(faultfs.Fault{Ops: faultfs.Open, Suffix: "-shm", N: 1, Err: syscall.EMFILE})
	if err := db.SetJournalMode(t.Context(), JournalWAL); !errors.Is(err, syscall.EMFILE) {
		t.Fatal(err)
	}
	f, err := osfile.Open(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	eventually(t, "an idle database gives SHARED back", func() bool {
		locked, err := f.Locked(osfile.Exclusive, format.SharedByte, format.SharedSize)
		return err == nil && !locked
	})
	wantRows(t, db, 0)
}

// A file -wal that appears in rollback mode is no log for the transaction that runs.
func TestStrayLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	db := open(t, path, &Options{Create: true, JournalMode: JournalDelete})
	if err := db.Exec(t.Context(), "CREATE TABLE t(a INTEGER PRIMARY KEY, b)"); err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error {
		if err := os.WriteFile(path+"-wal", nil, 0o644); err != nil {
			return err
		}
		return putRow(1, "x")(tx)
	})
	wantRows(t, db, 1)
	update(t, db, putRow(2, "x"))
	wantRows(t, db, 2)
}

// Close waits for a checkpoint that is at work.
func TestCloseBesideCheckpoint(t *testing.T) {
	sys := faultfs.New(osfile.OS)
	path, first := logged(t, 0, Options{})
	db, err := Open(path, &Options{Durability: DurabilityNormal, system: sys})
	if err != nil {
		t.Fatal(err)
	}
	putRows(t, db, 1, 20)
	wantRows(t, first, 20)
	closed := make(chan error, 1)
	sys.Arm(faultfs.Fault{Ops: faultfs.Sync, N: 1, Do: func() {
		go func() { closed <- db.Close() }()
		eventually(t, "the database closes", db.pager.Probe().Closed)
	}})
	if err := db.Checkpoint(t.Context(), CheckpointPassive); err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := db.Checkpoint(t.Context(), CheckpointPassive); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// After Compact a hot journal is still looked for.
func TestCompactIsNoWriter(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "t.db"), &Options{Create: true})
	if err := dberr.Join(db.Exec(t.Context(), "CREATE TABLE t(a)"), db.Compact(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	if db.pager.Probe().Reserved() {
		t.Error("no writer is there, but it is thought that one is")
	}
}

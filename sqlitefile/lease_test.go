package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/osfile"
)

// shared makes a database with ten rows in table t, for other connections to open too.
func shared(tb testing.TB) (path string) {
	tb.Helper()
	return made(tb, "CREATE TABLE t (a, b); "+counted(10, "INSERT INTO t SELECT i, 100 FROM n")).write(tb)
}

// TestLeaseEnds measures how long the lock outlives the last reader.
func TestLeaseEnds(t *testing.T) {
	path := shared(t)
	db := open(t, path, nil)
	other, err := osfile.Open(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	slowest := time.Duration(0)
	for range 20 {
		wantRows(t, db, 10)
		start := time.Now()
		eventually(t, "the lock is free", func() bool {
			return other.Lock(osfile.Exclusive, format.SharedByte, format.SharedSize) == nil
		})
		slowest = max(slowest, time.Since(start))
		if err := other.Unlock(format.SharedByte, format.SharedSize); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("a writer waits at most %v", slowest)
	if slowest > time.Second {
		t.Errorf("a writer waits %v for an idle reader", slowest)
	}
}

// TestLeaseShared reads while the lock is held, without a system call in between: the lease stays
// one.
func TestLeaseShared(t *testing.T) {
	t.Parallel()
	db := open(t, shared(t), nil)
	view(t, db, func(outer *Rx) error {
		for range 100 {
			wantRows(t, db, 10)
		}
		if n := db.pager.Probe().Lease().Readers(); n != 1 {
			t.Errorf("%d readers, want 1", n)
		}
		return nil
	})
	eventually(t, "the lease ends", func() bool { return !db.pager.Probe().HoldsShared() })
}

// TestWriterWaitsForReader holds a view open: a writer in another process is refused as long as it
// lasts, and not longer.
func TestWriterWaitsForReader(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, c := open(t, path, nil), newPeer(t, path)
	view(t, db, func(rx *Rx) error {
		n := 0
		if got := c.do("INSERT INTO t VALUES (11, 0)"); got == "" {
			t.Error("a writer committed under a reader")
		}
		if err := countRows(&n)(rx); err != nil || n != 10 {
			t.Errorf("%d rows, %v", n, err)
		}
		return nil
	})
	c.must(".timeout 5000\nINSERT INTO t VALUES (11, 0)", "")
	wantRows(t, db, 11)
}

// TestWriterGivesUp lets a writer wait in vain for a long view: when it gives up, other views go on
// beside the long one.
func TestWriterGivesUp(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, c := open(t, path, &Options{BusyTimeout: -1}), newPeer(t, path)
	short := func() bool { return db.View(context.Background(), countRows(new(int))) == nil }
	view(t, db, func(*Rx) error {
		mark := c.send(".timeout 300\nINSERT INTO t VALUES (11, 0)")
		eventually(t, "a view makes way for the writer", func() bool { return !short() })
		if got := c.wait(mark); got == "" {
			t.Error("a writer committed under a reader")
		}
		eventually(t, "a view need not make way any more", short)
		return nil
	})
}

// TestWriterDoesNotStarve lets views follow each other without a gap: a writer gets its turn again
// and again.
func TestWriterDoesNotStarve(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, c := open(t, path, nil), newPeer(t, path)
	var stop atomic.Bool
	var views atomic.Int64
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for n := 0; !stop.Load(); views.Add(1) {
				if err := db.View(context.Background(), countRows(&n)); err != nil || n < 10 {
					t.Errorf("%d rows, %v", n, err)
					return
				}
			}
		})
	}
	c.must(".timeout 10000", "")
	for range 20 {
		before := views.Load()
		eventually(t, "views go on", func() bool { return views.Load() > before })
		c.must("INSERT INTO t VALUES (0, 0)", "")
	}
	stop.Store(true)
	readers.Wait()
	wantRows(t, db, 30)
}

// TestRecoveryDoesNotStarve lets views follow each other without a gap, which began before a writer
// in another process died and left a hot journal: who wants to play it back needs the database
// alone, and SQLite takes no PENDING for that.
func TestRecoveryDoesNotStarve(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, writer, other := open(t, path, nil), newPeer(t, path), newPeer(t, path)
	var stop atomic.Bool
	var views atomic.Int64
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for n := 0; !stop.Load(); views.Add(1) {
				if err := db.View(context.Background(), countRows(&n)); err != nil || n != 10 {
					t.Errorf("%d rows, %v", n, err)
					return
				}
			}
		})
	}
	eventually(t, "views follow each other", func() bool { return views.Load() > 100 })
	writer.must("PRAGMA synchronous = OFF; BEGIN IMMEDIATE; DELETE FROM t", "") // synchronous, a journal is hot from its sync on only
	writer.kill()
	other.must(".timeout 5000\nSELECT count(*) FROM t", "10")
	stop.Store(true)
	readers.Wait()
	if _, err := os.Stat(path + "-journal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
}

// TestReaderInAnotherProcess lets a process of ours read all the time while SQLite writes, and then
// die.
func TestReaderInAnotherProcess(t *testing.T) {
	t.Parallel()
	path := shared(t)
	c, reader := newPeer(t, path), newReader(t, path)
	for range 10 {
		c.must(".timeout 10000\nINSERT INTO t VALUES (0, 0)", "")
	}
	reader.kill()
	c.must("INSERT INTO t VALUES (0, 0)", "")
	wantRows(t, open(t, path, nil), 21)
}

// TestTransfers moves amounts between rows in one process while views of another add them up.
func TestTransfers(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		path := shared(t)
		db, c := open(t, path, &Options{NoMmap: plain}), newPeer(t, path)
		c.must(".timeout 10000", "")
		for i := range 25 {
			mark := c.send("BEGIN; UPDATE t SET b = b - 7 WHERE a = 1 + " + string(rune('0'+i%9)) + "; UPDATE t SET b = b + 7 WHERE a = 10; COMMIT")
			sum := int64(0)
			view(t, db, func(rx *Rx) (err error) {
				sum, err = sumRows(rx)
				return err
			})
			if sum != 1000 {
				t.Errorf("the sum is %d, want 1000", sum)
			}
			if got := c.wait(mark); got != "" {
				t.Fatal(got)
			}
		}
	}
}

// sumRows adds up column b of table t.
func sumRows(rx *Rx) (sum int64, err error) {
	t, err := rx.Table("t")
	if err != nil {
		return 0, err
	}
	for row, err := range t.All() {
		if err != nil {
			return 0, err
		}
		n, err := row.Int64(1)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// TestSchemaChanges are seen by the next view.
func TestSchemaChanges(t *testing.T) {
	t.Parallel()
	path := shared(t)
	db, c := open(t, path, nil), newPeer(t, path)
	version := func() (v uint64) {
		view(t, db, func(rx *Rx) error { v = rx.Version(); return nil })
		return v
	}
	before := version()
	if version() != before {
		t.Error("the version changed without a change")
	}
	c.must(".timeout 10000\nALTER TABLE t ADD COLUMN c DEFAULT 'new'; CREATE TABLE u (x); CREATE INDEX tb ON t (b)", "")
	if version() == before {
		t.Error("the version did not change")
	}
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		row, _, err := table.Get(3)
		if err != nil {
			return err
		}
		if s, err := row.Text(2); s != "new" {
			t.Errorf("column c is %q, %v", s, err)
		}
		if _, err := rx.Index("tb"); err != nil {
			t.Error(err)
		}
		_, err = rx.Table("u")
		return err
	})
	c.must("DROP TABLE u", "")
	view(t, db, func(rx *Rx) error {
		if _, err := rx.Table("u"); !errors.Is(err, ErrNoTable) {
			t.Errorf("the table is still there: %v", err)
		}
		return nil
	})
}

// TestFileGrowsAndShrinks reads after each change of the file's size by another process.
func TestFileGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		path := shared(t)
		db, c := open(t, path, &Options{NoMmap: plain}), newPeer(t, path)
		c.must(".timeout 10000", "")
		for range 3 {
			c.must(counted(2000, "INSERT INTO t SELECT i, zeroblob(1000) FROM n"), "")
			wantRows(t, db, 2010)
			c.must("DELETE FROM t WHERE a > 10 OR typeof(b) = 'blob'; VACUUM", "")
			wantRows(t, db, 10)
			if r, err := db.Check(t.Context(), nil); err != nil || !r.OK() {
				t.Errorf("%+v, %v", r, err)
			}
		}
		c.must("PRAGMA page_size = 512; VACUUM", "")
		wantRows(t, db, 10)
	}
}

// TestTruncated cuts the file off under a view, as no honest process does.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		for _, size := range []int64{0, 100, 4096, 4096*20 + 17} {
			path := made(t, "CREATE TABLE t (a); "+counted(1000, "INSERT INTO t SELECT zeroblob(1000) FROM n")).write(t)
			db := open(t, path, &Options{NoMmap: plain})
			err := db.View(t.Context(), func(rx *Rx) error {
				if err := os.Truncate(path, size); err != nil {
					return err
				}
				return countRows(new(int))(rx)
			})
			if !errors.Is(err, ErrFault) && !errors.Is(err, ErrCorrupt) {
				t.Errorf("plain %v, %d bytes: %v, want ErrFault or ErrCorrupt", plain, size, err)
			}
			if r, err := db.Check(t.Context(), nil); err == nil && r.OK() {
				t.Errorf("plain %v, %d bytes: Check finds nothing", plain, size)
			}
		}
	}
}

// TestCheckFault cuts the file off while it is checked.
func TestCheckFault(t *testing.T) {
	t.Parallel()
	path := made(t, "CREATE TABLE t (a); "+counted(3000, "INSERT INTO t SELECT zeroblob(1000) FROM n")).write(t)
	db := open(t, path, nil)
	rx, err := db.BeginView(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rx.End()
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	if _, err := rx.Check(t.Context(), nil); !errors.Is(err, ErrFault) {
		t.Errorf("%v, want ErrFault", err)
	}
}

// TestClose waits for a view, and refuses those that come later.
func TestClose(t *testing.T) {
	t.Parallel()
	db, err := Open(seeds[0].path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	view(t, db, func(rx *Rx) error {
		go func() { closed <- db.Close() }()
		eventually(t, "Close waits", func() bool { return db.pager.Probe().Lease().Closing() })
		if _, err := rx.Objects(); err != nil {
			t.Error(err)
		}
		select {
		case err := <-closed:
			t.Errorf("Close returned under a view: %v", err)
		default:
		}
		return nil
	})
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"View":  db.View(t.Context(), func(*Rx) error { return nil }),
		"Close": db.Close(),
		"Begin": func() error { _, err := db.BeginView(t.Context()); return err }(),
		"Check": func() error { _, err := db.Check(t.Context(), nil); return err }(),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
}

// TestBusy meets a writer that holds EXCLUSIVE.
func TestBusy(t *testing.T) {
	t.Parallel()
	path := shared(t)
	c := newPeer(t, path)
	none := func(*Rx) error { return errors.New("a view under a writer") }
	patient, hasty := open(t, path, &Options{BusyTimeout: time.Minute}), open(t, path, &Options{BusyTimeout: -1})
	brief := open(t, path, &Options{BusyTimeout: 50 * time.Millisecond})
	c.must(".timeout 10000\nBEGIN EXCLUSIVE", "")

	if err := hasty.View(t.Context(), none); !errors.Is(err, ErrBusy) {
		t.Errorf("no timeout: %v, want ErrBusy", err)
	}
	if _, err := Open(path, &Options{BusyTimeout: -1}); !errors.Is(err, ErrBusy) {
		t.Errorf("Open: %v, want ErrBusy", err)
	}
	start := time.Now()
	if err := brief.View(t.Context(), none); !errors.Is(err, ErrBusy) || time.Since(start) < 50*time.Millisecond {
		t.Errorf("50 ms: %v after %v, want ErrBusy", err, time.Since(start))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := patient.View(ctx, none); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("10 ms of a minute: %v, want a timeout", err)
	}
	cancel()
	if err := patient.View(ctx, none); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled before: %v", err)
	}

	done, n := make(chan error, 1), 0
	go func() { done <- patient.View(context.Background(), countRows(&n)) }()
	c.must("INSERT INTO t VALUES (11, 0); COMMIT", "")
	if err := <-done; err != nil || n != 11 {
		t.Errorf("%d rows, %v, want 11", n, err)
	}
}

// TestEnterEnds lets a view find a lease that is to end, at the moment when it is the one to end
// it: the lease must not do so while the view holds what its end needs.
func TestEnterEnds(t *testing.T) {
	t.Parallel()
	db := open(t, shared(t), nil)
	for range 100 {
		view(t, db, func(*Rx) error { return nil })
		db.pager.Probe().Lease().Drain() // as yield does, which is a reader then
		if err := db.pager.Probe().TryView(); err != nil && !errors.Is(err, osfile.ErrLocked) {
			t.Fatal(err)
		}
	}
}

// TestVersionStays lets leases of a log end. What was known of a snapshot is kept for as long as
// nobody has written, and no longer.
func TestVersionStays(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/db"
	db := open(t, path, &Options{Create: true})
	must.Do(t, db.SetJournalMode(t.Context(), JournalWAL))
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
	other := open(t, path, nil)
	must.Do(t, insertOne(other, 1))
	version := func() (v uint64) {
		view(t, db, func(rx *Rx) error {
			v = rx.Version()
			return nil
		})
		l := db.pager.Probe().Lease()
		eventually(t, "the lease ends", l.HasEnded)
		return v
	}
	before := version()
	if now := version(); now != before {
		t.Errorf("version %d became %d", before, now)
	}
	must.Do(t, insertOne(other, 2))
	after := version()
	if after == before {
		t.Error("the version stayed, though another connection wrote")
	}
	must.Do(t, other.Checkpoint(t.Context(), CheckpointPassive))
	if now := version(); now != after {
		t.Errorf("version %d became %d by a checkpoint", after, now)
	}
	must.Do(t, other.Checkpoint(t.Context(), CheckpointTruncate))
	must.Do(t, insertOne(other, 3))
	if version() == after {
		t.Error("the version stayed, though the log began anew")
	}
	wantRows(t, db, 3)
}

// TestLayout searches an index in the log, and again when all of the log is in the file, which is
// another layout of the same version: then nothing may be looked at in the log, as other
// connections begin it anew.
func TestLayout(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/db"
	db := open(t, path, &Options{Create: true, PageSize: 512})
	must.Do(t, db.SetJournalMode(t.Context(), JournalWAL))
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (a)"))
	must.Do(t, db.Exec(t.Context(), "CREATE INDEX i ON t (a)"))
	other := open(t, path, nil)
	const rows = 1000
	fill := func(from, to int) {
		must.Do(t, other.Update(t.Context(), func(tx *Tx) error {
			w, err := tx.Table("t")
			for a := from; a < to && err == nil; a++ {
				_, err = w.Insert(fmt.Sprint("key ", a))
			}
			return err
		}))
	}
	search := func(rx *Rx) error {
		x, err := rx.Index("i")
		for a := 0; a < rows && err == nil; a += 10 {
			var ok bool
			if _, ok, err = x.Find(fmt.Sprint("key ", a)); err == nil && !ok {
				err = fmt.Errorf("key %d is not found", a)
			}
		}
		return err
	}
	fill(0, rows)
	view(t, db, search)
	l := db.pager.Probe().Lease()
	eventually(t, "the lease ends", l.HasEnded)
	must.Do(t, other.Checkpoint(t.Context(), CheckpointFull))
	view(t, db, func(rx *Rx) error {
		if rx.pager.LastFrame() != 0 {
			t.Error("the log is still needed")
		}
		must.Do(t, other.Checkpoint(t.Context(), CheckpointTruncate))
		fill(rows, rows+10)
		return search(rx)
	})
}

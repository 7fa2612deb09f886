package sqlitefile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// closedLedger makes a ledger in WAL mode that no connection has open, with one transaction.
func closedLedger(t *testing.T, path string) {
	t.Helper()
	newLedger(t, path, JournalWAL)
	db, err := Open(path, nil)
	if err == nil {
		err = errors.Join(enterLedger(t, db, rand.New(rand.NewPCG(1, 1))), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func wantLedger(t *testing.T, db *DB, want int64) {
	t.Helper()
	err := db.View(t.Context(), func(rx *Rx) error {
		count, err := readLedger(rx)
		if err == nil && count != want {
			t.Errorf("%d transactions, want %d", count, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestObserver lets a writer come while a view reads without a lock: the view fails with ErrChanged
// at the next page that it must read, and keeps those that it has. The next view sees what the
// writer did, also in the log.
func TestObserver(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "l.db")
		closedLedger(t, path)
		reader := open(t, path, readingOptions(t, false))
		rx, err := reader.BeginView(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if rx.pager.Log().Access != wal.AccessWatched {
			t.Errorf("access %d", rx.pager.Log().Access)
		}
		writer := open(t, path, nil)
		if err := enterLedger(t, writer, rand.New(rand.NewPCG(2, 2))); err != nil {
			t.Fatal(err)
		}
		if copied {
			if err := writer.Checkpoint(t.Context(), CheckpointTruncate); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readLedger(rx); !errors.Is(err, ErrChanged) || !errors.Is(err, ErrBusy) {
			t.Errorf("copied %v: %v, want ErrChanged", copied, err)
		}
		rx.End()
		wantLedger(t, reader, 2)
	}
}

// TestObserverCompany lets several observers read one database: none takes another for a writer.
func TestObserverCompany(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "l.db")
	closedLedger(t, path)
	for range 4 {
		wantLedger(t, open(t, path, readingOptions(t, false)), 1)
	}
}

// TestObserverOutOfSight reads a database by a name in another directory, next to which the files
// of its writer are not to be seen.
func TestObserverOutOfSight(t *testing.T) {
	t.Parallel()
	if !osfile.SplitsLocks {
		t.Skip("skipped: an observer cannot tell itself from a writer by its lock here")
	}
	dir := t.TempDir()
	path, alias := filepath.Join(dir, "l.db"), filepath.Join(dir, "elsewhere", "l.db")
	closedLedger(t, path)
	if err := errors.Join(os.Mkdir(filepath.Dir(alias), 0o777), os.Link(path, alias)); err != nil {
		t.Skip("a second name:", err)
	}
	o := readingOptions(t, false)
	o.BusyTimeout = time.Millisecond
	reader := open(t, alias, o)
	wantLedger(t, reader, 1)
	held, err := open(t, alias, o).BeginView(t.Context()) // which has read no page yet
	if err != nil {
		t.Fatal(err)
	}
	defer held.End()

	writer, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"open", "committed", "copied"} {
		switch at {
		case "committed":
			err = enterLedger(t, writer, rand.New(rand.NewPCG(2, 2)))
		case "copied":
			err = writer.Checkpoint(t.Context(), CheckpointTruncate)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.BeginView(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v, want ErrBusy", at, err)
		}
		if _, err := Open(alias, o); !errors.Is(err, ErrBusy) {
			t.Errorf("%s: open: %v, want ErrBusy", at, err)
		}
	}
	if _, err := readLedger(held); !errors.Is(err, ErrChanged) {
		t.Errorf("a view from before: %v, want ErrChanged", err)
	}
	if err := writer.Close(); err != nil {
		t.Error(err)
	}
	wantLedger(t, reader, 2)
}

// TestSideFileBeingMade opens a database whose index another connection has just made, and not
// given its permissions yet.
func TestSideFileBeingMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "l.db")
	closedLedger(t, path)
	o := readingOptions(t, false)
	o.BusyTimeout = time.Millisecond
	o.system = unreadableSystem{o.system}
	for size, want := range map[int]error{0: ErrBusy, 3: fs.ErrPermission} {
		writeFile(t, path+"-shm", make([]byte, size))
		if _, err := Open(path, o); !errors.Is(err, want) {
			t.Errorf("an index of %d bytes: %v, want %v", size, err, want)
		}
	}
}

// An unreadableSystem does not let its process read an index.
type unreadableSystem struct{ osfile.System }

func (s unreadableSystem) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	if suffix == "-shm" {
		return nil, &fs.PathError{Op: "open", Path: db.Name() + suffix, Err: fs.ErrPermission}
	}
	return s.System.OpenSide(db, suffix, flag)
}

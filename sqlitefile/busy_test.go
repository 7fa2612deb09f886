package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestBusyHolder looks at what one is told who meets a lock: one line with the path, what the
// holder does, which process that is, and the way out.
func TestBusyHolder(t *testing.T) {
	t.Parallel()
	write := func(db *DB) error {
		return db.Update(context.Background(), func(tx *Tx) error { return tx.Exec("CREATE TABLE more (a)") })
	}
	for _, tt := range []struct {
		name, mode, hold string
		do               func(db *DB) error
		want             string
	}{
		{"view under EXCLUSIVE", "delete", "BEGIN EXCLUSIVE", func(db *DB) error { return db.View(context.Background(), countRows(new(int))) }, "another connection wants to write, and waits for readers"},
		{"update under RESERVED", "delete", "BEGIN IMMEDIATE", write, "another connection is writing"},
		{"commit under SHARED", "delete", "BEGIN; SELECT count(*) FROM t", write, "another connection has it open for reading"},
		{"update under WRITE", "wal", "BEGIN IMMEDIATE", write, "another connection is writing"},
		{"checkpoint under a read mark", "wal", "BEGIN; SELECT count(*) FROM t", func(db *DB) error {
			return errors.Join(write(db), db.Checkpoint(context.Background(), CheckpointRestart))
		}, "another connection is reading an older state"},
		{"out of WAL mode", "wal", "SELECT count(*) FROM t", func(db *DB) error {
			return db.SetJournalMode(context.Background(), JournalDelete)
		}, "another connection has it open for reading"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "busy.db")
			c := newPeer(t, path)
			c.do(".timeout 10000\nPRAGMA journal_mode=" + tt.mode + "; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
			db := open(t, path, &Options{BusyTimeout: time.Millisecond})
			c.do(tt.hold)
			checkBusy(t, tt.do(db), path, fmt.Sprintf("%s (process %d)", tt.want, c.cmd.Process.Pid))
		})
	}
}

// checkBusy wants ErrBusy, with its path and cause, on one line.
func checkBusy(t *testing.T, err error, path, want string) {
	t.Helper()
	whole := "lock " + path + ": database is locked: " + want
	if !errors.Is(err, ErrBusy) || err.Error() != whole {
		t.Errorf("got  %v\nwant %s", err, whole)
	}
}

// TestBusyHolderOurs meets locks of this package, which the system does not ascribe to a process.
func TestBusyHolderOurs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells whose these locks are")
	}
	path := filepath.Join(t.TempDir(), "busy.db")
	db := open(t, path, &Options{Create: true, JournalMode: JournalWAL, BusyTimeout: time.Millisecond})
	if err := db.Exec(t.Context(), "CREATE TABLE t (a)"); err != nil {
		t.Fatal(err)
	}
	second, err := Open(path, &Options{BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		return second.Exec(t.Context(), "CREATE TABLE u (a)")
	})
	checkBusy(t, err, path, "another connection is writing (in this process)")

	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	reader := newReader(t, path)
	eventually(t, "the process is found, for which there is not much time", func() bool {
		err = db.SetJournalMode(t.Context(), JournalDelete)
		return err == nil || strings.Contains(err.Error(), "process")
	})
	checkBusy(t, err, path, fmt.Sprintf("another connection has it open for reading (process %d)", reader.cmd.Process.Pid))
}

// TestBusyOurselves meets a reader of the same DB.
func TestBusyOurselves(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "busy.db")
	db := open(t, path, &Options{Create: true, JournalMode: JournalDelete, BusyTimeout: time.Millisecond})
	if err := db.Exec(t.Context(), "CREATE TABLE t (a)"); err != nil {
		t.Fatal(err)
	}
	err := db.View(t.Context(), func(*Rx) error { return db.Exec(t.Context(), "CREATE TABLE u (a)") })
	checkBusy(t, err, path, "a transaction of this DB is reading")
}

// TestErrorsOneLine holds the package to join: errors.Join makes a message of several lines.
func TestErrorsOneLine(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if b, err := os.ReadFile(name); err != nil {
			t.Error(err)
		} else if !strings.HasSuffix(name, "_test.go") && strings.Contains(string(b), "errors.Join(") {
			t.Errorf("%s calls errors.Join", name)
		}
	}
}

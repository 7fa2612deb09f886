package sqlitefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// backup returns a copy of a database as a file of its own.
func backup(tb testing.TB, db *DB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "copy.db")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(db.Backup(context.Background(), f), f.Close()); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestBackup(t *testing.T) {
	t.Parallel()
	fill := `CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b BLOB);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT i, 'key' || i, zeroblob(i % 3000) FROM n;
		DELETE FROM t WHERE id % 3 = 0`
	content := "PRAGMA integrity_check; SELECT count(*), sum(id), sum(length(b)), group_concat(substr(a, 4)) FROM t; PRAGMA encoding; PRAGMA page_count; PRAGMA auto_vacuum"
	for i, f := range thinned(flavours, 3) {
		t.Run(strings.ReplaceAll(f, "PRAGMA ", ""), func(t *testing.T) {
			t.Parallel()
			path := scripted(t, f+";"+fill)
			db, err := Open(path, &Options{NoMmap: i%2 == 1})
			if err != nil {
				t.Fatal(err)
			}
			update(t, db, func(tx *Tx) error { // in the log, if there is one
				table, err := tx.Table("t")
				if err != nil {
					return err
				}
				_, err = table.DeleteRange(100, 400)
				return err
			})
			copied := backup(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			want := shell(t, path, content)
			checkShell(t, copied, content, want)
			checkShell(t, copied, "PRAGMA journal_mode", "delete")
			names, err := filepath.Glob(copied + "*")
			if err != nil || len(names) != 1 {
				t.Errorf("%v, %v", names, err)
			}
		})
	}
}

// TestBackupLive copies a database while other goroutines write to it: each copy has whole
// transactions.
func TestBackupLive(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "live.db"), &Options{Create: true, JournalMode: JournalWAL, Durability: DurabilityNormal})
	if err := db.Exec(t.Context(), "CREATE TABLE account(id INTEGER PRIMARY KEY, amount INT, note TEXT); CREATE INDEX note ON account(note)"); err != nil {
		t.Fatal(err)
	}
	const accounts = 500
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("account")
		for i := 0; i < accounts && err == nil; i++ {
			_, err = table.Insert(nil, 100, strings.Repeat("x", i))
		}
		return err
	})
	stop := make(chan struct{})
	done := make(chan error, 2)
	for w := range 2 {
		go func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				if err := transfer(db, int64(1+(w+n*7)%accounts), int64(1+(w*3+n*11)%accounts), n); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range 20 {
		copied := backup(t, db)
		checkShell(t, copied, "PRAGMA integrity_check; SELECT count(*), sum(amount) FROM account", fmt.Sprintf("ok\n%d|%d", accounts, 100*accounts))
	}
	close(stop)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// transfer moves an amount from one account to another.
func transfer(db *DB, from, to int64, n int) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		table, err := tx.Table("account")
		if err != nil || from == to {
			return err
		}
		for id, by := range map[int64]int64{from: -1, to: 1} {
			row, ok, err := table.Get(id)
			if err != nil || !ok {
				return fmt.Errorf("account %d: %v, %w", id, ok, err)
			}
			amount, err := row.Int64(1)
			if err != nil {
				return err
			}
			if _, err := table.Update(id, nil, amount+by, strings.Repeat("y", n%700)); err != nil {
				return err
			}
		}
		return nil
	})
}

// An endingWriter takes so many bytes and then fails.
type endingWriter struct {
	left   int
	cancel context.CancelFunc
}

var errNoRoom = errors.New("no room")

func (w *endingWriter) Write(p []byte) (int, error) {
	if w.cancel != nil {
		w.cancel()
		return len(p), nil
	}
	if len(p) > w.left {
		return w.left, errNoRoom
	}
	w.left -= len(p)
	return len(p), nil
}

func TestBackupErrors(t *testing.T) {
	t.Parallel()
	path := scripted(t, "CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(3000000))")
	db := open(t, path, nil)
	if err := db.Backup(t.Context(), &endingWriter{left: 2_000_000}); !errors.Is(err, errNoRoom) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := db.Backup(ctx, &endingWriter{cancel: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := db.Exec(t.Context(), "CREATE TABLE u(a)"); err != nil {
		t.Errorf("after it: %v", err)
	}
	closed, err := Open(path, nil)
	if err == nil {
		err = closed.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Backup(t.Context(), new(bytes.Buffer)); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestBackupFile makes copies under a name, and none where that must not be.
func TestBackupFile(t *testing.T) {
	t.Parallel()
	path := scripted(t, "PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, zeroblob(3000000))")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir := t.TempDir()
	copied := filepath.Join(dir, "copy.db")
	var seen, all int64
	progress := func(done, of int64) { seen, all = done, of }
	if err := db.BackupFile(t.Context(), copied, &BackupOptions{Progress: progress}); err != nil {
		t.Fatal(err)
	}
	if size := fileSize(t, copied); seen != size || all != size {
		t.Errorf("%d of %d bytes, %d are there", seen, all, size)
	}
	checkShell(t, copied, "PRAGMA integrity_check; SELECT length(a) FROM t", "ok\n3000000")
	if err := db.BackupFile(t.Context(), copied, nil); !errors.Is(err, os.ErrExist) || !strings.Contains(err.Error(), copied) {
		t.Errorf("over another: %v", err)
	}
	if err := os.WriteFile(copied, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := &BackupOptions{Replace: true, Progress: func(_, _ int64) { cancel() }}
	if err := db.BackupFile(ctx, copied, o); !errors.Is(err, context.Canceled) || fileSize(t, copied) != 3 {
		t.Errorf("cancelled: %v, %d bytes", err, fileSize(t, copied))
	}
	if err := db.BackupFile(t.Context(), path, &BackupOptions{Replace: true}); !errors.Is(err, ErrBusy) && !errors.Is(err, os.ErrExist) {
		t.Errorf("over itself: %v", err)
	}
	if err := db.BackupFile(t.Context(), copied, &BackupOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	checkShell(t, copied, "PRAGMA integrity_check", "ok")
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	if err := db.BackupFile(t.Context(), filepath.Join(dir, "none", "x"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in no directory: %v", err)
	}
}

package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio/sqlite"
)

// TestCrowd writes, reads and begins in every mode on many connections: none is told that the
// database is locked, except one that writes after it has read an older state.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const connections, rounds = 100, 20
	for _, options := range []string{"", "?_txlock=immediate&_synchronous=NORMAL", "?_journal_mode=delete"} {
		db := openNew(t, options)
		if _, err := db.Exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b); CREATE INDEX i ON t (b)"); err != nil {
			t.Fatal(err)
		}
		var want, stale atomic.Int64
		var all sync.WaitGroup
		for g := range connections {
			all.Go(func() {
				for i := range rounds {
					n, err := visit(t.Context(), db, g+i)
					want.Add(int64(n))
					var e *sqlite.Error
					switch {
					case errors.As(err, &e) && e.Extended == sqlite.CodeBusySnapshot && (g+i)%6 == 3:
						stale.Add(1)
					case err != nil:
						t.Errorf("%s: way %d: %v", options, (g+i)%6, err)
						return
					}
				}
			})
		}
		all.Wait()
		var got int64
		if err := db.QueryRow("SELECT count(*) FROM t").Scan(&got); err != nil || got != want.Load() {
			t.Errorf("%s: %d rows, want %d: %v", options, got, want.Load(), err)
		}
		var ok string
		if err := db.QueryRow("PRAGMA integrity_check").Scan(&ok); err != nil || ok != "ok" {
			t.Errorf("%s: %v, %v", options, ok, err)
		}
		t.Logf("%s: %d rows, %d transactions were too old", options, got, stale.Load())
	}
}

// visit does one of six things, and returns how many rows it has inserted.
func visit(ctx context.Context, db *sql.DB, way int) (int, error) {
	const insert = "INSERT INTO t (b) VALUES (?)"
	switch way % 6 {
	case 0: // autocommit
		_, err := db.ExecContext(ctx, insert, way)
		return count(1, err), err
	case 1: // read
		var n int
		return 0, db.QueryRowContext(ctx, "SELECT count(*) FROM t WHERE b > ?", way).Scan(&n)
	case 2, 3: // a transaction that writes, perhaps after it has read
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer tx.Rollback()
		var n int
		if way%6 == 3 {
			if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM t").Scan(&n); err != nil {
				return 0, err
			}
		}
		for range 3 {
			if _, err := tx.ExecContext(ctx, insert, way); err != nil {
				return 0, err
			}
		}
		err = tx.Commit()
		return count(3, err), err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	begin, end, n := "BEGIN IMMEDIATE", "COMMIT", 1
	if way%6 == 5 {
		begin, end, n = "BEGIN EXCLUSIVE", "ROLLBACK", 0
	}
	for _, s := range []string{begin, "SAVEPOINT s", fmt.Sprintf("INSERT INTO t (b) VALUES (%d)", way), "RELEASE s", end} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func count(n int, err error) int {
	if err != nil {
		return 0
	}
	return n
}

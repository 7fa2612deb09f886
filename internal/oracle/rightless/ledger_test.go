package rightless

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// The database is a ledger: rows in many pages that add up to 0, apart from row 0, which counts the
// transactions.
const rows = 60

const schema = `PRAGMA page_size = 512; PRAGMA journal_mode = WAL;
CREATE TABLE t (id INTEGER PRIMARY KEY, n INT NOT NULL, filling BLOB);
WITH RECURSIVE c(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i + 1 < %d)
INSERT INTO t SELECT i, 0, zeroblob(300) FROM c;`

// A writer commits transactions by one of the engines.
type writer interface {
	commit(from, to, amount int64, filling int) error
	checkpoint(mode int) error
	Close() error
}

// write commits transactions, each of which it tells before and after, until it is killed. Now and
// then it copies the log back or opens the database again.
func write(path, engine string) error {
	var w writer
	var err error
	for {
		if w == nil {
			if w, err = newWriter(path, engine); err != nil {
				return err
			}
		}
		switch rand.IntN(25) {
		case 0:
			err = w.checkpoint(rand.IntN(4))
		case 1:
			err, w = w.Close(), nil
		default:
			if err = w.commit(1+rand.Int64N(rows-1), 1+rand.Int64N(rows-1), rand.Int64N(100), rand.IntN(600)); err == nil {
				fmt.Println("committed")
			}
		}
		if err != nil && !errors.Is(err, sqlitefile.ErrBusy) && judge.Code(errors.Unwrap(err)) != codeBusy {
			return fmt.Errorf("writer by %s: %w", engine, err)
		}
	}
}

// codeBusy is SQLITE_BUSY.
const codeBusy = 5

func newWriter(path, engine string) (writer, error) {
	if engine == "c" {
		c, err := judge.Open(path + "?_busy_timeout=5000")
		return cWriter{c}, err
	}
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Durability: sqlitefile.DurabilityNormal})
	return oursWriter{db}, err
}

type cWriter struct{ *judge.Conn }

func (w cWriter) commit(from, to, amount int64, filling int) error {
	return w.Exec(fmt.Sprintf(`BEGIN IMMEDIATE;
UPDATE t SET n = n + 1 WHERE id = 0;
UPDATE t SET n = n - %d, filling = zeroblob(%d) WHERE id = %d;
UPDATE t SET n = n + %d WHERE id = %d; COMMIT`, amount, filling, from, amount, to))
}

func (w cWriter) checkpoint(mode int) error {
	return w.Exec("PRAGMA wal_checkpoint(" + [...]string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"}[mode] + ")")
}

type oursWriter struct{ *sqlitefile.DB }

func (w oursWriter) commit(from, to, amount int64, filling int) error {
	return w.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("t")
		if err != nil {
			return err
		}
		add := func(id, n int64, filling int) error {
			row, _, err := t.Get(id)
			if err != nil {
				return err
			}
			old, err := row.Int64(1)
			return errors.Join(err, t.Put(id, nil, old+n, make([]byte, filling)))
		}
		return errors.Join(add(0, 1, 0), add(from, -amount, filling), add(to, amount, 300))
	})
}

func (w oursWriter) checkpoint(mode int) error {
	return w.Checkpoint(context.Background(), sqlitefile.CheckpointMode(mode))
}

// sum returns how many transactions a view sees.
func sum(rx *sqlitefile.Rx) (count int64, err error) {
	t, err := rx.Table("t")
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for row, err := range t.All() {
		if err != nil {
			return 0, err
		}
		n, err := row.Int64(1)
		if err != nil {
			return 0, err
		}
		if total += n; row.Rowid() == 0 {
			count, total = n, 0
		}
	}
	if total != 0 {
		return count, fmt.Errorf("the rows of transaction %d add up to %d", count, total)
	}
	return count, nil
}

// committed returns how many transactions are known to be committed: a file next to the database
// says it.
func committed(path string) int64 {
	text, err := os.ReadFile(path + ".count")
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

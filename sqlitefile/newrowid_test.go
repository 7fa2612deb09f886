package sqlitefile

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestNewRowid lets ours and SQLite choose a rowid beside an existing one.
func TestNewRowid(t *testing.T) {
	t.Parallel()
	n := 0
	for _, there := range []int64{math.MinInt64, -10, -1, 0, 1, 7, math.MaxInt64 - 1} {
		for _, counted := range []string{"", " AUTOINCREMENT"} {
			if n++; n%inQuick(3, 1) != 0 {
				continue
			}
			path := scripted(t, "CREATE TABLE t(id INTEGER PRIMARY KEY"+counted+", a); CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT)")
			theirs := scripted(t, "CREATE TABLE t(id INTEGER PRIMARY KEY"+counted+", a); CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT)")
			read := "SELECT group_concat(id) FROM (SELECT id FROM t ORDER BY id); SELECT group_concat(name || ' ' || seq) FROM sqlite_sequence"
			want := shell(t, theirs, fmt.Sprintf("INSERT INTO t VALUES(%d, 1); %s; INSERT INTO t(a) VALUES(2); %s", there, read, read))
			db := open(t, path, nil)
			got := ""
			for _, rowid := range []any{there, nil} {
				update(t, db, func(tx *Tx) error {
					w, err := tx.Table("t")
					if err == nil {
						_, err = w.Insert(rowid, 1)
					}
					return err
				})
				got += shell(t, path, read) + "\n"
			}
			if got != want+"\n" {
				t.Errorf("%d%s:\n%s\nwant\n%s", there, counted, got, want)
			}
		}
	}
}

// TestSequenceByHand lets ours and SQLite choose a rowid after somebody has written to
// sqlite_sequence.
func TestSequenceByHand(t *testing.T) {
	t.Parallel()
	n := 0
	for _, seq := range []string{"-5", "-20", "12", "'12'", "' 12abc'", "'-7'", "NULL", "7.9", "'7.9'", "'x'", "x'3132'", "9223372036854775806"} {
		for _, there := range []int64{-10, 3} {
			if n++; n%inQuick(7, 1) != 0 {
				continue
			}
			script := fmt.Sprintf("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES(%d, 0); UPDATE sqlite_sequence SET seq = %s", there, seq)
			path, theirs := scripted(t, script), scripted(t, script)
			read := "SELECT group_concat(id) FROM (SELECT id FROM t ORDER BY id); SELECT name, typeof(seq), seq FROM sqlite_sequence"
			db := open(t, path, nil)
			for _, rowid := range []any{1, nil} {
				want := shell(t, theirs, "INSERT INTO t VALUES("+map[any]string{1: "1", nil: "NULL"}[rowid]+", 0); "+read)
				update(t, db, func(tx *Tx) error {
					w, err := tx.Table("t")
					if err == nil {
						_, err = w.Insert(rowid, 0)
					}
					return err
				})
				if got := shell(t, path, read); got != want {
					t.Errorf("seq %s beside %d:\n%s\nwant\n%s", seq, there, got, want)
				}
			}
		}
	}
}

// TestNewRowidFull has no rowid left that is larger than all rowids.
func TestNewRowidFull(t *testing.T) {
	t.Parallel()
	db := open(t, scripted(t, "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT)"), nil)
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("t")
		if err != nil {
			return err
		}
		if err := w.InsertRowid(math.MaxInt64, nil, 1); err != nil {
			return err
		}
		if rowid, err := w.Insert(nil, 2); rowid <= 0 || rowid == math.MaxInt64 || err != nil {
			t.Errorf("%d, %v", rowid, err)
		}
		if w, err = tx.Table("u"); err != nil {
			return err
		}
		if err := w.InsertRowid(math.MaxInt64, nil); err != nil {
			return err
		}
		if _, err := w.Delete(math.MaxInt64); err != nil {
			return err
		}
		if _, err := w.Insert(nil); !errors.Is(err, ErrFull) {
			t.Errorf("%v, want ErrFull", err)
		}
		return nil
	})
}

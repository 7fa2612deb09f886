package sqlitefile

import (
	"errors"
	"testing"
)

// TestConflicts writes rows that break constraints with ON CONFLICT clauses.
func TestConflicts(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE t(id INTEGER PRIMARY KEY ON CONFLICT REPLACE, a UNIQUE ON CONFLICT IGNORE, b DEFAULT 'none' NOT NULL ON CONFLICT REPLACE);
		CREATE TABLE k(id PRIMARY KEY ON CONFLICT IGNORE, a UNIQUE ON CONFLICT REPLACE) WITHOUT ROWID;
		CREATE TABLE r(a UNIQUE ON CONFLICT ROLLBACK); INSERT INTO r VALUES(1)`)
	db := open(t, path, nil)
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("t")
		if err != nil {
			return err
		}
		k, err := tx.Table("k")
		if err != nil {
			return err
		}
		for i, c := range []struct {
			do    func() (int64, error)
			rowid int64
		}{
			{func() (int64, error) { return w.Insert(1, "a", nil) }, 1},
			{func() (int64, error) { return w.Insert(2, "b", "two") }, 2},
			{func() (int64, error) { return w.Insert(nil, "b", "three") }, 0},
			{func() (int64, error) { return w.Insert(2, "c", "again") }, 2},
			{func() (int64, error) { ok, err := w.Set(2, 1, "a"); return int64(boolInt(ok)), err }, 1},
			{func() (int64, error) { ok, err := w.Set(2, 2, nil); return int64(boolInt(ok)), err }, 1},
			{func() (int64, error) { return k.Insert("x", 1) }, 0},
			{func() (int64, error) { return k.Insert("x", 2) }, 0},
			{func() (int64, error) { return k.Insert("y", 1) }, 0},
			{func() (int64, error) { return 0, k.PutKey("z", 1) }, 0},
		} {
			if rowid, err := c.do(); rowid != c.rowid || err != nil {
				t.Errorf("%d: %d, %v", i, rowid, err)
			}
		}
		return nil
	})
	err := db.Update(t.Context(), func(tx *Tx) error {
		r, err := tx.Table("r")
		if err != nil {
			return err
		}
		if _, err := r.Insert(2); err != nil {
			return err
		}
		if _, err := r.Insert(1); !errors.Is(err, ErrConstraint) {
			t.Errorf("ON CONFLICT ROLLBACK: %v", err)
		}
		return nil
	})
	if !errors.Is(err, ErrConstraint) {
		t.Errorf("the transaction of ON CONFLICT ROLLBACK: %v", err)
	}
	checkShell(t, path, "PRAGMA integrity_check; SELECT group_concat(id || a || b, ' ') FROM t; SELECT group_concat(id || a) FROM k; SELECT count(*) FROM r",
		"ok\n1anone 2cnone\nz1\n1")
}

// TestConflictsIgnored writes to a key whose clause is that of another constraint, to a generated
// column, and to a table with AUTOINCREMENT, which gives no rowid again.
func TestConflictsIgnored(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE same(id PRIMARY KEY DESC, a, UNIQUE(id) ON CONFLICT REPLACE) WITHOUT ROWID;
		CREATE TABLE made(a, b AS (a + 1) NOT NULL ON CONFLICT IGNORE);
		CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE ON CONFLICT IGNORE)`)
	db := open(t, path, nil)
	update(t, db, func(tx *Tx) error {
		for i, c := range []struct {
			table  string
			values []any
			rowid  int64
		}{
			{"same", []any{"x", 1}, 0},
			{"same", []any{"x", 2}, 0},
			{"made", []any{1, nil}, 1},
			{"made", []any{nil, nil}, 0},
			{"auto", []any{nil, 1}, 1},
			{"auto", []any{nil, 1}, 0},
			{"auto", []any{7, 1}, 0},
			{"auto", []any{nil, 2}, 8},
		} {
			w, err := tx.Table(c.table)
			if err != nil {
				return err
			}
			if rowid, err := w.Insert(c.values...); rowid != c.rowid || err != nil {
				t.Errorf("%d: %d, %v", i, rowid, err)
			}
		}
		made, err := tx.Table("made")
		if err != nil {
			return err
		}
		if ok, err := made.Update(1, nil, nil); !ok || err != nil {
			t.Errorf("Update: %t, %v", ok, err)
		}
		auto, err := tx.Table("auto")
		if err != nil {
			return err
		}
		return auto.InsertRowid(20, nil, 1)
	})
	checkShell(t, path, "PRAGMA integrity_check; SELECT id, a FROM same; SELECT a, b FROM made; SELECT id, a FROM auto; SELECT seq FROM sqlite_sequence",
		"ok\nx|2\n1|2\n1|1\n8|2\n20")
}

// TestConflictsOfActions writes rows with foreign keys: their actions heed no clause, and may
// delete the row that is being changed.
func TestConflictsOfActions(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE parent(id INTEGER PRIMARY KEY);
		CREATE TABLE child(id INTEGER PRIMARY KEY, parent NOT NULL ON CONFLICT IGNORE REFERENCES parent ON DELETE SET NULL);
		CREATE TABLE one(id INTEGER PRIMARY KEY, parent DEFAULT 2 UNIQUE ON CONFLICT REPLACE REFERENCES parent ON DELETE SET DEFAULT);
		CREATE TABLE tree(id INTEGER PRIMARY KEY, name UNIQUE ON CONFLICT REPLACE, up REFERENCES tree ON DELETE CASCADE);
		INSERT INTO parent VALUES(1), (2), (3); INSERT INTO child VALUES(1, 1); INSERT INTO one VALUES(1, 2), (2, 3);
		INSERT INTO tree VALUES(3, 'root', NULL), (1, 'leaf', 3)`)
	db := open(t, path, &Options{ForeignKeys: true})
	update(t, db, func(tx *Tx) error {
		parent, err := tx.Table("parent")
		if err != nil {
			return err
		}
		for _, id := range []int64{1, 3} { // SET NULL breaks NOT NULL, SET DEFAULT breaks UNIQUE
			if _, err := parent.Delete(id); !errors.Is(err, ErrConstraint) {
				t.Errorf("Delete(%d): %v", id, err)
			}
		}
		tree, err := tx.Table("tree")
		if err != nil {
			return err
		}
		if ok, err := tree.Set(1, 1, "root"); !ok || err != nil { // replaces row 3, which takes row 1 with it
			t.Errorf("Set: %t, %v", ok, err)
		}
		return nil
	})
	checkShell(t, path, "PRAGMA integrity_check; PRAGMA foreign_key_check; SELECT count(*) FROM parent; SELECT id, parent FROM child UNION ALL SELECT id, parent FROM one; SELECT count(*) FROM tree",
		"ok\n3\n1|1\n1|2\n2|3\n0")
}

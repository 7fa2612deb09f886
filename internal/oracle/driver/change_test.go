package driver

import "testing"

// TestChanges compares statements that change rows, in transactions of every kind.
func TestChanges(t *testing.T) {
	t.Parallel()
	s := newScript(t, "&_foreign_keys=1")
	s.run(`
		CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL CHECK (name <> ''), at DATETIME, ok BOOLEAN)
		CREATE TABLE c (a TEXT, b INT, p REFERENCES p ON DELETE CASCADE, d REFERENCES p DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (a, b))
		CREATE TABLE s (i INT, t TEXT) STRICT
		CREATE TABLE r (x)
		INSERT INTO p VALUES (1, 'one', '2024-02-29 12:00:00', 1), (2, 'two', 1700000000, 0)
		SELECT * FROM p
		INSERT INTO p (name) VALUES ('three') RETURNING id, name AS n
		INSERT INTO p (name) VALUES ('one')
		INSERT INTO p (id, name) VALUES (1, 'other')
		INSERT INTO p (name) VALUES (NULL)
		INSERT INTO p (name) VALUES ('')
		INSERT INTO c VALUES ('x', 1, 1, NULL)
		INSERT INTO c VALUES ('x', 1, 1, NULL)
		INSERT INTO c VALUES ('y', 1, 99, NULL)
		INSERT INTO c VALUES ('y', 1, NULL, 99)
		INSERT INTO s VALUES ('no', 'yes')
		INSERT INTO r (rowid, x) VALUES (5, 1)
		INSERT INTO r (rowid, x) VALUES (5, 1)
		INSERT OR IGNORE INTO p (name) VALUES ('one')
		INSERT OR REPLACE INTO p (id, name) VALUES (2, 'zwei')
		INSERT OR FAIL INTO r (rowid, x) VALUES (6, 1), (5, 2), (7, 3)
		SELECT rowid, x FROM r
		INSERT INTO p (id, name) VALUES (3, 'drei') ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *
		UPDATE p SET name = 'one' WHERE id = 3
		UPDATE p SET ok = 1 WHERE id > 1 RETURNING id
		DELETE FROM p WHERE id = 1
		SELECT * FROM c
		BEGIN
		BEGIN
		INSERT INTO c VALUES ('z', 1, NULL, 50)
		COMMIT
		SELECT count(*) FROM c
		INSERT INTO p (id, name) VALUES (50, 'fifty')
		COMMIT
		SELECT count(*) FROM c
		BEGIN IMMEDIATE
		2: BEGIN IMMEDIATE
		INSERT OR ROLLBACK INTO p (id, name) VALUES (50, 'x')
		COMMIT
		2: BEGIN IMMEDIATE
		2: INSERT INTO r VALUES (77)
		SELECT count(*) FROM r
		2: SAVEPOINT a
		2: INSERT INTO r VALUES (78)
		2: SAVEPOINT b
		2: DELETE FROM r
		2: ROLLBACK TO b
		2: RELEASE a
		2: RELEASE b
		2: COMMIT
		SELECT count(*) FROM r
		BEGIN
		SELECT count(*) FROM r
		2: INSERT INTO r VALUES (79)
		INSERT INTO r VALUES (80)
		SELECT count(*) FROM r
		ROLLBACK
		SELECT count(*) FROM r
		PRAGMA query_only = 1
		INSERT INTO r VALUES (81)
		PRAGMA query_only = 0
		INSERT INTO missing VALUES (1)
		DELETE FROM sqlite_schema
		UPDATE SQLITE_MASTER SET sql = NULL
		CREATE VIEW v AS SELECT x FROM r
		CREATE TRIGGER vd INSTEAD OF DELETE ON v BEGIN DELETE FROM r WHERE x = old.x; END
		INSERT INTO v VALUES (1)
		UPDATE v SET x = 1
		DELETE FROM r AS v WHERE v.x = 0
		CREATE TABLE k (r REFERENCES p ON DELETE RESTRICT ON UPDATE RESTRICT, n REFERENCES p)
		INSERT INTO p (id, name) VALUES (60, 'sixty'), (61, 'sixty-one')
		INSERT INTO k VALUES (60, NULL), (NULL, 61)
		DELETE FROM p WHERE id = 60
		UPDATE p SET id = 62 WHERE id = 60
		REPLACE INTO p (id, name) VALUES (60, 'again')
		REPLACE INTO p (id, name) VALUES (63, 'sixty')
		DELETE FROM p WHERE id = 61
		INSERT INTO r VALUES (1, 2)
		UPDATE r SET y = 1
		DELETE FROM r WHERE y = 1
		INSERT INTO r (y) VALUES (1)
		CREATE TABLE u (id INTEGER PRIMARY KEY CHECK (id < 100), x CHECK (x < id + 50), g AS (id + x) CHECK (g <> 50))
		CREATE UNIQUE INDEX ug ON u (id + 1)
		INSERT INTO u VALUES (1, 1), (2, 2), (3, 3)
		UPDATE u SET id = 1000 WHERE id = 1
		UPDATE u SET rowid = -60
		UPDATE u SET id = 49 WHERE x = 1
		UPDATE u SET (x, id) = (SELECT 5, 1000)
		UPDATE OR IGNORE u SET id = id * 40 RETURNING *
		UPDATE OR REPLACE u SET id = 7
		INSERT INTO u VALUES (7, 1) ON CONFLICT (id) DO UPDATE SET id = 100
		SELECT * FROM u
		CREATE TABLE o (x, y)
		INSERT INTO o VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)
		UPDATE o SET x = (SELECT min(s.y) FROM o AS s WHERE s.rowid = o.rowid)
		UPDATE o SET x = (SELECT s.x + s.y FROM o AS s WHERE s.rowid = o.rowid + 1)
		SELECT * FROM o
		PRAGMA foreign_key_check
		PRAGMA integrity_check
		2: CREATE TABLE new (a)
		INSERT INTO new VALUES (1)
		2: ALTER TABLE new ADD COLUMN b DEFAULT 7
		SELECT a, b FROM new
		INSERT INTO new VALUES (1, 2)
		SELECT b, a FROM new
		2: DROP TABLE new
		SELECT * FROM new
	`)
}

// TestInstead checks that a change of a view with an INSTEAD OF trigger is refused as not
// supported. SQLite's own error, for a view without a trigger, would be wrong.
func TestInstead(t *testing.T) {
	t.Parallel()
	s := newScript(t, "")
	s.run(`
		CREATE TABLE r (x)
		CREATE VIEW v AS SELECT x FROM r
		CREATE TRIGGER vd INSTEAD OF DELETE ON v BEGIN DELETE FROM r WHERE x = old.x; END
		DROP TRIGGER vd
		DELETE FROM v
		CREATE TRIGGER vd INSTEAD OF DELETE ON v BEGIN DELETE FROM r WHERE x = old.x; END
	`)
	want := "error 1 1 not supported yet: view v has an INSTEAD OF trigger"
	if got := answer(s.contexts, s.conn("1")[0], "DELETE FROM V"); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schemaText returns the rows of sqlite_schema, one to a line, with root pages where those do not
// depend on how trees grow.
func schemaText(tb testing.TB, rx *Rx) string {
	tb.Helper()
	objects, err := rx.Objects()
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	for _, o := range objects {
		if !rx.Info().AutoVacuum {
			o.Root = 0
		}
		fmt.Fprintf(&b, "%s|%s|%s|%d|%s\n", o.Type, o.Name, o.Table, o.Root, o.SQL)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// scripted returns a new database that the shell made with a script.
func scripted(tb testing.TB, script string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "made.db")
	shell(tb, path, script+";VACUUM;")
	return path
}

// update runs fn in a transaction, without error.
func update(tb testing.TB, db *DB, fn func(tx *Tx) error) {
	tb.Helper()
	if err := db.Update(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

// flavours are the kinds of databases that the tests of this file go through.
var flavours = []string{
	"PRAGMA page_size=512",
	"PRAGMA page_size=4096; PRAGMA journal_mode=WAL",
	"PRAGMA page_size=65536; PRAGMA encoding='UTF-16le'",
	"PRAGMA page_size=1024; PRAGMA encoding='UTF-16be'; PRAGMA journal_mode=WAL",
	"PRAGMA page_size=512; PRAGMA auto_vacuum=1",
	"PRAGMA page_size=1024; PRAGMA auto_vacuum=2; PRAGMA journal_mode=WAL",
	"PRAGMA page_size=512; PRAGMA auto_vacuum=1; PRAGMA encoding='UTF-16le'; PRAGMA journal_mode=WAL",
}

// eachFlavour runs a test on an empty database of each flavour, and then lets SQLite check what is
// left.
func eachFlavour(t *testing.T, fn func(t *testing.T, db *DB)) {
	for _, f := range thinned(flavours, 3) {
		t.Run(strings.ReplaceAll(f, "PRAGMA ", ""), func(t *testing.T) {
			t.Parallel()
			path := scripted(t, f)
			db, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			fn(t, db)
			report, err := db.Check(t.Context(), nil)
			if err != nil || len(report.Problems) > 0 {
				t.Errorf("%v: %v", err, report.Problems)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			checkShell(t, path, "PRAGMA integrity_check", "ok")
		})
	}
}

func TestExec(t *testing.T) {
	t.Parallel()
	script := `
		CREATE TABLE plain(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b REAL DEFAULT 1.5);
		CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE, b, UNIQUE(b, a));
		CREATE TABLE IF NOT EXISTS strict(a INT NOT NULL, b TEXT, c ANY) STRICT;
		CREATE TABLE keyed(a, b TEXT, c UNIQUE, PRIMARY KEY(b DESC, a)) WITHOUT ROWID;
		CREATE INDEX plain_a ON plain(a DESC, b);
		CREATE UNIQUE INDEX IF NOT EXISTS keyed_a ON keyed(a);
		CREATE VIEW seen AS SELECT a, b FROM plain WHERE b > 0;
		CREATE TABLE IF NOT EXISTS plain(other);
		CREATE INDEX IF NOT EXISTS plain_a ON plain(b);
		CREATE VIEW IF NOT EXISTS seen AS SELECT 1`
	eachFlavour(t, func(t *testing.T, db *DB) {
		if err := db.Exec(t.Context(), script); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			update(t, db, func(tx *Tx) error {
				plain, err := tx.Table("plain")
				if err != nil {
					return err
				}
				if _, err := plain.Insert(nil, "x", 2); err != nil {
					return err
				}
				counted, err := tx.Table("counted")
				if err != nil {
					return err
				}
				_, err = counted.Insert(nil, nil, 3)
				return err
			})
		}
		view(t, db, func(rx *Rx) error {
			want := strings.Join([]string{
				"plain", "counted", "sqlite_autoindex_counted_1", "sqlite_autoindex_counted_2", "sqlite_sequence",
				"strict", "keyed", "sqlite_autoindex_keyed_1", "plain_a", "keyed_a", "seen",
			}, " ")
			objects, err := rx.Objects()
			var got []string
			for _, o := range objects {
				got = append(got, o.Name)
			}
			if names := strings.Join(got, " "); names != want {
				t.Errorf("%s\nwant %s", names, want)
			}
			return err
		})
	})
}

// TestExecLikeSQLite runs the same statements here and there.
func TestExecLikeSQLite(t *testing.T) {
	t.Parallel()
	script := `CREATE TABLE a(x);CREATE TABLE b(x UNIQUE);CREATE INDEX ax ON a(x);CREATE TABLE c(x INTEGER PRIMARY KEY AUTOINCREMENT);
		CREATE TABLE d(x PRIMARY KEY) WITHOUT ROWID;CREATE VIEW v AS SELECT * FROM a;DROP TABLE b;CREATE INDEX dx ON d(x);DROP INDEX ax;
		CREATE TABLE e(x, y, UNIQUE(x), PRIMARY KEY(y, x));DROP TABLE c;DROP VIEW v;CREATE TABLE b(y);`
	for _, f := range thinned(flavours, 3) {
		path := scripted(t, f)
		db := open(t, path, nil)
		if err := db.Exec(t.Context(), script); err != nil {
			t.Fatal(err)
		}
		theirs := scripted(t, f)
		want := shell(t, theirs, script+"SELECT type, name, tbl_name, rootpage * (auto_vacuum > 0), ifnull(sql, '') FROM sqlite_schema, pragma_auto_vacuum;PRAGMA schema_version")
		view(t, db, func(rx *Rx) error {
			got := fmt.Sprintf("%s\n%d", schemaText(t, rx), rx.Info().SchemaVersion)
			if got != want {
				t.Errorf("%s:\n%s\nwant\n%s", f, got, want)
			}
			return nil
		})
	}
}

// TestExecErrors runs statements that must change nothing.
func TestExecErrors(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT a FROM t; CREATE TABLE u(a UNIQUE);
		CREATE TABLE n(id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE parent(a PRIMARY KEY); CREATE TABLE child(a REFERENCES Parent(a));
		CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; CREATE VIRTUAL TABLE f USING fts5(x);
		INSERT INTO t VALUES(1, 2), (1, 2), (NULL, 3), (NULL, 3), (7, 'x')`)
	db := open(t, path, nil)
	var before string
	view(t, db, func(rx *Rx) error { before = schemaText(t, rx); return nil })
	for _, c := range []struct {
		sql  string
		want string
		is   error
	}{
		{"CREATE TABLE T(x)", "table T already exists", nil},
		{"CREATE TABLE v(x)", "view v already exists", nil},
		{"CREATE TABLE i(x)", "there is already an index named i", nil},
		{"CREATE TABLE IF NOT EXISTS i(x)", "there is already an index named i", nil},
		{"CREATE VIEW t AS SELECT 1", "table t already exists", nil},
		{"CREATE INDEX t ON t(a)", "there is already a table named t", nil},
		{"CREATE INDEX I ON t(b)", "index i already exists", nil},
		{"CREATE INDEX j ON v(a)", "views may not be indexed", nil},
		{"CREATE INDEX j ON absent(a)", "no such table: main.absent", ErrNoTable},
		{"CREATE INDEX j ON t(c)", "no such column: c", nil},
		{"CREATE INDEX j ON f(x)", "virtual table", ErrUnsupported},
		{"CREATE INDEX j ON sqlite_sequence(name)", "table sqlite_sequence may not be indexed", nil},
		{"CREATE INDEX j ON sqlite_schema(name)", "may not be indexed", nil},
		{"CREATE UNIQUE INDEX j ON t(a, b)", "UNIQUE constraint failed: t.a, t.b", ErrConstraint},
		{"CREATE INDEX j ON t(a) WHERE a > random()", "index j: WHERE a > random(): the function random with 0 arguments", ErrUnsupported},
		{"CREATE INDEX j ON t(a, mine(b))", "index j: the expression mine(b): the function mine with 1 arguments", ErrUnsupported},
		{"CREATE INDEX j ON t(a COLLATE mine)", "collation mine", ErrUnsupported},
		{"CREATE TABLE x(a COLLATE mine)", "collation mine", ErrUnsupported},
		{"CREATE TABLE x(a, b AS (date(a)))", "table x: the generated column b, AS (date(a)): the function date with 1 arguments", ErrUnsupported},
		{"CREATE TABLE x(a, b AS (c), c AS (b))", "generated columns of x that refer to each other", ErrUnsupported},
		{"CREATE TABLE x(a CHECK (a IN (SELECT 1)))", "table x: CHECK (a IN (SELECT 1)): IN with a table or a SELECT", ErrUnsupported},
		{"CREATE TEMP TABLE x(a)", "TEMP", ErrUnsupported},
		{"CREATE TABLE other.x(a)", "unknown database other", nil},
		{"CREATE TABLE sqlite_x(a)", "object name reserved for internal use: sqlite_x", nil},
		{"CREATE INDEX sqlite_x ON t(a)", "object name reserved for internal use: sqlite_x", nil},
		{"CREATE TABLE x AS SELECT 1", "AS SELECT", nil},
		{"CREATE TRIGGER h AFTER INSERT ON t BEGIN SELECT 1; END", "trigger h", ErrUnsupported},
		{"CREATE TRIGGER h INSTEAD OF INSERT ON t BEGIN SELECT 1; END", "there is no view t", nil},
		{"CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN SELECT 1; END", "trigger g already exists", nil},
		{"CREATE TRIGGER sqlite_h INSTEAD OF INSERT ON v BEGIN SELECT 1; END", "object name reserved for internal use: sqlite_h", nil},
		{"CREATE TEMP TRIGGER h INSTEAD OF INSERT ON v BEGIN SELECT 1; END", "TEMP", ErrUnsupported},
		{"CREATE VIRTUAL TABLE x USING fts5(a)", "virtual table x", ErrUnsupported},
		{"ALTER TABLE t ADD COLUMN c PRIMARY KEY", "Cannot add a PRIMARY KEY column", nil},
		{"ALTER TABLE t ADD COLUMN c UNIQUE", "Cannot add a UNIQUE column", nil},
		{"ALTER TABLE t ADD COLUMN c NOT NULL", "table t, which has rows: it is NOT NULL and has no default but NULL", nil},
		{"ALTER TABLE t ADD COLUMN c DEFAULT CURRENT_TIME", "has a default that is not a constant", nil},
		{"ALTER TABLE t ADD COLUMN c AS (a) STORED", "is generated and STORED", nil},
		{"ALTER TABLE t ADD COLUMN c CHECK (a = 1)", "CHECK constraint failed", ErrConstraint},
		{"ALTER TABLE t ADD COLUMN c NOT NULL AS (a)", "NOT NULL constraint failed: t.c", ErrConstraint},
		{"ALTER TABLE t ADD COLUMN c AS (date(a))", "the function date", ErrUnsupported},
		{"ALTER TABLE t ADD COLUMN A", "duplicate column", nil},
		{"ALTER TABLE t ADD COLUMN c, d", "syntax error", nil},
		{"ALTER TABLE v ADD COLUMN c", "v is a view", nil},
		{"ALTER TABLE f ADD COLUMN c", "virtual table", ErrUnsupported},
		{"ALTER TABLE absent ADD COLUMN c", "no such table: absent", ErrNoTable},
		{"ALTER TABLE sqlite_sequence ADD COLUMN c", "may not be altered", nil},
		{"ALTER TABLE temp.t ADD COLUMN c", "TEMP", ErrUnsupported},
		{"ALTER TABLE t RENAME TO x", "while there is view v", ErrUnsupported},
		{"ALTER TABLE t RENAME COLUMN a TO x", "while there is view v", ErrUnsupported},
		{"ALTER TABLE t DROP COLUMN b", "the statement ALTER TABLE DROP", ErrUnsupported},
		{"PRAGMA user_version = 3", "the statement PRAGMA", ErrUnsupported},
		{"INSERT INTO t VALUES(1)", "the statement INSERT", ErrUnsupported},
		{"VACUUM", "the statement VACUUM", ErrUnsupported},
		{"DROP TABLE absent", "no such table: absent", ErrNoTable},
		{"DROP INDEX absent", "no such index: absent", ErrNoIndex},
		{"DROP VIEW absent", "no such view: absent", nil},
		{"DROP TRIGGER absent", "no such trigger: absent", nil},
		{"DROP TABLE v", "use DROP VIEW to delete view v", nil},
		{"DROP VIEW IF EXISTS t", "use DROP TABLE to delete table t", nil},
		{"DROP TABLE i", "no such table: i", ErrNoTable},
		{"DROP TABLE sqlite_sequence", "table sqlite_sequence may not be dropped", nil},
		{"DROP TABLE sqlite_schema", "no such table: sqlite_schema", ErrNoTable},
		{"DROP INDEX sqlite_autoindex_u_1", "UNIQUE or PRIMARY KEY constraint", nil},
		{"DROP TABLE parent", "the foreign key of table child refers to it", ErrUnsupported},
		{"DROP TABLE f", "virtual table", ErrUnsupported},
		{"DROP TABLE temp.t", "TEMP", ErrUnsupported},
		{"CREATE TABLE x(a); CREATE INDEX xa ON x(a); DROP TABLE t; SELECT 1", "the statement SELECT", ErrUnsupported},
		{"CREATE TABLE x(", "SQL: incomplete input", nil},
		{`CREATE TABLE x(a COLLATE "")`, `collation ""`, ErrUnsupported},
	} {
		err := db.Exec(t.Context(), c.sql)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %s", c.sql, err, c.want)
		}
	}
	view(t, db, func(rx *Rx) error {
		if after := schemaText(t, rx); after != before {
			t.Errorf("%s\nwant\n%s", after, before)
		}
		return nil
	})
	if err := db.Exec(t.Context(), "DROP TABLE child; DROP TABLE parent; DROP TABLE IF EXISTS parent; DROP TRIGGER g"); err != nil {
		t.Error(err)
	}
	checkShell(t, path, "PRAGMA integrity_check; SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE name NOT LIKE 'f_%')", "ok\nt u sqlite_autoindex_u_1 n sqlite_sequence i v f")
}

// TestExecDrop drops tables with everything that may belong to one, with their pages reused or
// given back.
func TestExecDrop(t *testing.T) {
	t.Parallel()
	fill := `CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE, b BLOB); CREATE INDEX tb ON t(b);
		CREATE TABLE k(a TEXT PRIMARY KEY, b BLOB) WITHOUT ROWID; CREATE INDEX kb ON k(b); CREATE TABLE stay(a, b); CREATE INDEX stay_a ON stay(a);
		CREATE TRIGGER tt AFTER DELETE ON t BEGIN SELECT 1; END; CREATE VIEW v AS SELECT * FROM t; CREATE TRIGGER vt INSTEAD OF INSERT ON v BEGIN SELECT 1; END;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800) INSERT INTO t SELECT i, 'key' || i, randomblob(i * 7 % 3000) FROM n;
		INSERT INTO k SELECT a, b FROM t; INSERT INTO stay SELECT a, b FROM t WHERE id % 3 = 0; ANALYZE`
	for _, f := range thinned(flavours, 3) {
		t.Run(strings.ReplaceAll(f, "PRAGMA ", ""), func(t *testing.T) {
			t.Parallel()
			path := scripted(t, f+";"+fill)
			db, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Exec(t.Context(), "DROP INDEX tb; DROP TABLE t; DROP VIEW v; CREATE TABLE new(a PRIMARY KEY); DROP TABLE k"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			checkShell(t, path, `PRAGMA integrity_check; SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name LIKE 'sqlite_seq%' DESC, rowid);
				SELECT group_concat(DISTINCT tbl) FROM sqlite_stat1; SELECT count(*) FROM sqlite_sequence; SELECT count(*), sum(length(b)) > 0 FROM stay;
				SELECT freelist_count = 0 OR auto_vacuum <> 1 FROM pragma_freelist_count, pragma_auto_vacuum`,
				"ok\nsqlite_sequence stay stay_a new sqlite_autoindex_new_1\nstay\n0\n266|1\n1")
		})
	}
}

// TestExecIndex builds indexes of existing rows of all kinds, in memory and not.
func TestExecIndex(t *testing.T) {
	t.Parallel()
	fill := `CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE, c REAL, d DEFAULT 'later'); CREATE TABLE k(a, b TEXT COLLATE RTRIM, c, PRIMARY KEY(b, a)) WITHOUT ROWID;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
		INSERT INTO t(id, a, b, c) SELECT i * 3 - 1000, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i / 7.0 WHEN 3 THEN 'text ' || (i * 7919 % 1000) ELSE randomblob(i % 700) END,
			CASE i % 2 WHEN 0 THEN 'Ä' ELSE 'a' END || substr('AbCdEfG', i % 7) || i % 97 || substr('    ', i % 4), i % 10 * 0.5 FROM n;
		INSERT INTO k SELECT a, b || id, c FROM t WHERE a NOT NULL; ALTER TABLE t ADD COLUMN e REAL DEFAULT 5; ALTER TABLE t ADD COLUMN f TEXT COLLATE NOCASE DEFAULT 'Ö';`
	indexes := "CREATE INDEX t_a ON t(a);CREATE INDEX t_b ON t(b, a DESC);CREATE INDEX t_c ON t(c DESC, id);CREATE INDEX t_d ON t(d, e, f);CREATE INDEX t_r ON t(b COLLATE RTRIM DESC);" +
		"CREATE UNIQUE INDEX t_i ON t(c, id);CREATE INDEX k_c ON k(c);CREATE INDEX k_b ON k(b COLLATE NOCASE DESC, c)"
	for _, f := range thinned(flavours, 3) {
		t.Run(strings.ReplaceAll(f, "PRAGMA ", ""), func(t *testing.T) {
			t.Parallel()
			path := scripted(t, f+";"+fill)
			db, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Exec(t.Context(), indexes); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			ours, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkShell(t, path, "PRAGMA integrity_check", "ok")
			theirs := scripted(t, f+";"+fill)
			shell(t, theirs, indexes)
			c, err := os.ReadFile(theirs)
			if err != nil {
				t.Fatal(err)
			}
			if len(ours) > len(c)+len(c)/50 {
				t.Errorf("%d bytes, SQLite needs %d", len(ours), len(c))
			}
		})
	}
}

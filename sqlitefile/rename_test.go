package sqlitefile

import (
	"errors"
	"strings"
	"testing"
)

// statements returns the statements of the schema.
func statements(t *testing.T, rx *Rx) string {
	t.Helper()
	objects, err := rx.Objects()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, o := range objects {
		lines = append(lines, o.Name+" "+o.Table+" "+o.SQL)
	}
	return strings.Join(lines, "\n")
}

// TestRename renames a table and columns in one transaction, and writes and reads by the new names.
func TestRename(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE CHECK (b > 0), c AS (b + 1), FOREIGN KEY (b) REFERENCES t(a));
		CREATE INDEX i ON t(b + 1) WHERE t.b > 3; INSERT INTO t VALUES(7, 7)`)
	db := open(t, path, nil)
	err := db.Update(t.Context(), func(tx *Tx) error {
		if err := tx.Exec(`ALTER TABLE t RENAME TO "new one"; ALTER TABLE "new one" RENAME b TO d; ALTER TABLE [new one] RENAME COLUMN a TO [key]`); err != nil {
			return err
		}
		if _, err := tx.Table("t"); !errors.Is(err, ErrNoTable) {
			t.Errorf("the old name: %v", err)
		}
		table, err := tx.Table("new one")
		if err != nil {
			return err
		}
		rowid, err := table.Insert(nil, 8, nil)
		if rowid != 8 {
			t.Errorf("AUTOINCREMENT gives rowid %d, want 8", rowid)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	view(t, db, func(rx *Rx) error {
		if got := tableText(t, rx, "new one"); got != "7 7 8 8 8 9" {
			t.Errorf("rows %s", got)
		}
		_, err := rx.Index("sqlite_autoindex_new one_1")
		return err
	})
	want := `new one|new one|CREATE TABLE "new one"("key" INTEGER PRIMARY KEY AUTOINCREMENT, d UNIQUE CHECK (d > 0), c AS (d + 1), ` +
		`FOREIGN KEY (d) REFERENCES "new one"("key"))` + "\n" +
		"sqlite_autoindex_new one_1|new one|\nsqlite_sequence|sqlite_sequence|CREATE TABLE sqlite_sequence(name,seq)\n" +
		`i|new one|CREATE INDEX i ON "new one"(d + 1) WHERE "new one".d > 3` + "\nok\nnew one|8"
	checkShell(t, path, "SELECT name, tbl_name, sql FROM sqlite_schema; PRAGMA integrity_check; SELECT * FROM sqlite_sequence", want)
}

// TestRenameRollback takes renamings back by a savepoint and by an error. Another handle reads the
// new schema after the commit.
func TestRenameRollback(t *testing.T) {
	t.Parallel()
	path := scripted(t, "CREATE TABLE t(a UNIQUE, b); CREATE INDEX i ON t(b); INSERT INTO t VALUES(1, 2)")
	db, other := open(t, path, nil), open(t, path, nil)
	var before string
	for _, handle := range []*DB{db, other} {
		view(t, handle, func(rx *Rx) error { before = statements(t, rx); return nil })
	}
	update(t, db, func(tx *Tx) error {
		savepoint, err := tx.Savepoint()
		if err != nil {
			return err
		}
		if err := tx.Exec("ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME a TO x"); err != nil {
			return err
		}
		if err := savepoint.Rollback(); err != nil {
			return err
		}
		if got := statements(t, &tx.Rx); got != before {
			t.Errorf("after the savepoint was taken back:\n%s", got)
		}
		if err := tx.Exec("ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME a TO b"); err == nil {
			t.Error("two columns have the same name")
		}
		if got := statements(t, &tx.Rx); got != before {
			t.Errorf("after an error:\n%s", got)
		}
		return tx.Exec("ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME a TO x")
	})
	view(t, other, func(rx *Rx) error {
		want := "u u CREATE TABLE \"u\"(x UNIQUE, b)\nsqlite_autoindex_u_1 u \ni u CREATE INDEX i ON \"u\"(b)"
		if got := statements(t, rx); got != want {
			t.Errorf("another handle reads\n%s", got)
		}
		if got := tableText(t, rx, "u"); got != "1 2" {
			t.Errorf("another handle reads %s", got)
		}
		return nil
	})
}

// TestRenameRefused gives statements that must not change anything, with the error for each.
func TestRenameRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, stmt string
		want         error  // nil for any
		text         string // in the error
	}{
		{"CREATE TABLE t(a); CREATE VIEW v AS SELECT 1", "ALTER TABLE t RENAME TO u", ErrUnsupported, "drop it, rename, and create it again"},
		{"CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END", "ALTER TABLE t RENAME a TO b", ErrUnsupported, "trigger r"},
		{"CREATE TABLE t(a, b, CHECK (a IN ()))", "ALTER TABLE t RENAME b TO c", ErrUnsupported, "not known"},
		{"CREATE TABLE t(a, b, CHECK (rowid > 0))", "ALTER TABLE t RENAME b TO rowid", ErrUnsupported, "would change what"},
		{"CREATE TABLE t(a, b, CHECK (true))", "ALTER TABLE t RENAME b TO true", ErrUnsupported, "would change what"},
		{"CREATE TABLE t(a, b, CHECK (b > 0))", "ALTER TABLE t RENAME b TO current_date", ErrUnsupported, "would change what"},
		{"CREATE TABLE t(b, a INTEGER PRIMARY KEY, UNIQUE (a)) WITHOUT ROWID", "ALTER TABLE t RENAME a TO c", ErrUnsupported, "UNIQUE"},
		{"CREATE TABLE t(a, b)", "ALTER TABLE t RENAME a TO B", nil, "duplicate column"},
		{"CREATE TABLE t(a, b)", "ALTER TABLE t RENAME c TO b", ErrNoColumn, ""},
		{"CREATE TABLE t(a, b)", "ALTER TABLE u RENAME TO v", ErrNoTable, ""},
		{"CREATE TABLE t(a, b); CREATE TABLE u(a)", "ALTER TABLE t RENAME TO U", nil, "another table"},
		{"CREATE TABLE t(a, b); CREATE INDEX i ON t(a)", "ALTER TABLE t RENAME TO i", nil, "another table or index"},
		{"CREATE TABLE t(a, b)", "ALTER TABLE t RENAME TO T", nil, "another table"},
		{"CREATE TABLE t(a, b)", "ALTER TABLE t RENAME TO sqlite_t", nil, "reserved"},
		{"CREATE TABLE t(a, b)", "ALTER TABLE sqlite_schema RENAME TO u", nil, "may not be altered"},
		{"CREATE TABLE t(a, b)", "ALTER TABLE temp.t RENAME TO u", ErrUnsupported, "TEMP"},
		{"CREATE VIEW t AS SELECT 1 AS a", "ALTER TABLE t RENAME TO u", nil, "is a view"},
	} {
		db := open(t, scripted(t, c.schema), nil)
		var before string
		view(t, db, func(rx *Rx) error { before = statements(t, rx); return nil })
		err := db.Exec(t.Context(), c.stmt)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n%s: %v", c.schema, c.stmt, err)
		}
		view(t, db, func(rx *Rx) error {
			if got := statements(t, rx); got != before {
				t.Errorf("%s\n%s: the schema became\n%s", c.schema, c.stmt, got)
			}
			return nil
		})
	}
}

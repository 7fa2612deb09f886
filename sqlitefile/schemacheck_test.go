package sqlitefile

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rewritten returns a new database whose sqlite_schema a statement has changed.
func rewritten(tb testing.TB, schema, change string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "rewritten.db")
	shell(tb, path, schema+"PRAGMA writable_schema = ON;"+change)
	return path
}

// TestSchemaDamaged changes rows of sqlite_schema. Where SQLite does not open such a database,
// Check says so and no table can be written; where it takes the row in its own way, so does the
// engine.
func TestSchemaDamaged(t *testing.T) {
	t.Parallel()
	const schema = `CREATE TABLE s(k INTEGER PRIMARY KEY, v UNIQUE, w); CREATE INDEX i ON s(w); CREATE TABLE other(a);
		INSERT INTO s VALUES(1, 'one', 1), (2, 'two', 2);`
	for change, malformed := range map[string]bool{
		"type = 'indez' WHERE name = 'sqlite_autoindex_s_1'":                                                                  false,
		"tbl_name = 'other' WHERE name = 'sqlite_autoindex_s_1'":                                                              false,
		"type = 'table', tbl_name = '' WHERE name = 'sqlite_autoindex_s_1'":                                                   false,
		"name = 'SQLITE_AUTOINDEX_S_1' WHERE name = 'sqlite_autoindex_s_1'":                                                   false,
		"type = 'INDEX' WHERE name = 'i'":                                                                                     false,
		"type = 'Table' WHERE name = 's'":                                                                                     false,
		"tbl_name = 'S' WHERE name = 'i'":                                                                                     false,
		"name = 'sqlite_autoindex_s_2' WHERE name = 'sqlite_autoindex_s_1'":                                                   true,
		"rootpage = 1 WHERE name = 'sqlite_autoindex_s_1'":                                                                    true,
		"rootpage = 99 WHERE name = 'sqlite_autoindex_s_1'":                                                                   true,
		"rootpage = 99 WHERE name = 'other'":                                                                                  true,
		"rootpage = NULL WHERE name = 'other'":                                                                                true,
		"rootpage = 'x' WHERE name = 'other'":                                                                                 true,
		"rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'i') WHERE name = 'sqlite_autoindex_s_1'":                true,
		"type = 'indez' WHERE name = 'i'":                                                                                     true,
		"tbl_name = 'other' WHERE name = 'i'":                                                                                 true,
		"name = 'j' WHERE name = 'i'":                                                                                         true,
		"sql = NULL WHERE name = 'i'":                                                                                         true,
		"sql = 'DROP TABLE s' WHERE name = 'i'":                                                                               true,
		"sql = 'CREATE INDEX i ON s(x)' WHERE name = 'i'":                                                                     true,
		"sql = 'CREATE INDEX i ON t(w)', tbl_name = 't' WHERE name = 'i'":                                                     true,
		"sql = 'CREATE TABLE s(a, a)' WHERE name = 's'":                                                                       true,
		"sql = 'CREATE TABLE s(k INTEGER PRIMARY KEY, v, w)' WHERE name = 's'":                                                true,
		"name = 's', tbl_name = 's', sql = 'CREATE TABLE s(a)' WHERE name = 'other'":                                          true,
		"rowid = 9 WHERE name = 's'":                                                                                          true,
		"sql = 'CREATE TABLE other(a CHECK (nosuch > 0))' WHERE name = 'other'":                                               true,
		"sql = 'CREATE TABLE other(a, CHECK (t.a > 0))' WHERE name = 'other'":                                                 true,
		"sql = 'CREATE TABLE other(a, b AS (abs(nosuch)))' WHERE name = 'other'":                                              true,
		"sql = 'CREATE TABLE other(a, b AS (rowid))' WHERE name = 'other'":                                                    true,
		"sql = 'CREATE TABLE other(a, b AS (other.a))' WHERE name = 'other'":                                                  true,
		"sql = 'CREATE INDEX i ON s(w || [nosuch])' WHERE name = 'i'":                                                         true,
		"sql = 'CREATE INDEX i ON s(s.w)' WHERE name = 'i'":                                                                   true,
		"sql = 'CREATE INDEX i ON s(w) WHERE nosuch' WHERE name = 'i'":                                                        true,
		"sql = 'CREATE TABLE other(a, CHECK (a IS NOT \"nosuch\" AND rowid IS NOT true AND x.other.a))' WHERE name = 'other'": false,
		"sql = 'CREATE INDEX i ON s(w) WHERE oid IN (w, s._rowid_, main.s.w) OR \"nosuch\" OR false' WHERE name = 'i'":        false,
	} {
		path := rewritten(t, schema, "UPDATE sqlite_schema SET "+change)
		said, _ := exec.Command("sqlite3", path, "SELECT count(*) FROM other").CombinedOutput()
		if got := strings.Contains(string(said), "malformed database schema"); got != malformed {
			t.Errorf("%s: SQLite says %q", change, said)
		}
		db := open(t, path, nil)
		report, err := db.Check(t.Context(), nil)
		if err != nil || report.OK() == malformed || malformed && !strings.Contains(fmt.Sprint(report.Problems), "malformed database schema") && !strings.Contains(fmt.Sprint(report.Problems), "describes no table") {
			t.Errorf("%s: %v, Check finds %v", change, err, report.Problems)
		}
		for _, table := range []string{"other", "s"} {
			err := db.Update(t.Context(), func(tx *Tx) error {
				w, err := tx.Table(table)
				if err == nil && table == "s" {
					_, err = w.Insert(nil, "one", 3)
				}
				return err
			})
			want := ErrCorrupt
			if !malformed {
				if want = ErrConstraint; table == "other" {
					want = nil
				}
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: writing to %s: %v, want %v", change, table, err, want)
			}
		}
	}
}

// TestSchemaLacksIndex deletes the row of the index of a constraint: the table can be read, and not
// be written.
func TestSchemaLacksIndex(t *testing.T) {
	t.Parallel()
	path := rewritten(t, "CREATE TABLE s(v UNIQUE, w); INSERT INTO s VALUES('one', 1);", "DELETE FROM sqlite_schema WHERE type = 'index'")
	db := open(t, path, nil)
	report, err := db.Check(t.Context(), nil)
	if err != nil || !strings.Contains(fmt.Sprint(report.Problems), "no row describes the index sqlite_autoindex_s_1 of a constraint") {
		t.Errorf("%v, Check finds %v", err, report.Problems)
	}
	view(t, db, func(rx *Rx) error {
		s, err := rx.Table("s")
		if err == nil {
			_, _, err = s.Get(1)
		}
		return err
	})
	err = db.Update(t.Context(), func(tx *Tx) error { _, err := tx.Table("s"); return err })
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("writing: %v", err)
	}
}

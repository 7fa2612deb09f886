package sqlitefile

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestAlterAddColumn adds columns to a table with rows. Old rows read the default, new rows hold
// what they are given.
func TestAlterAddColumn(t *testing.T) {
	t.Parallel()
	eachFlavour(t, func(t *testing.T, db *DB) {
		script := `CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); CREATE TABLE k(a PRIMARY KEY, b) WITHOUT ROWID`
		if err := db.Exec(t.Context(), script); err != nil {
			t.Fatal(err)
		}
		insert := func(table string, values ...any) {
			t.Helper()
			update(t, db, func(tx *Tx) error {
				into, err := tx.Table(table)
				if err == nil {
					_, err = into.Insert(values...)
				}
				return err
			})
		}
		insert("t", 1, "old")
		insert("k", "old", 1)
		for _, table := range []string{"t", "k"} {
			stmt := "ALTER TABLE " + table + " ADD COLUMN c TEXT NOT NULL DEFAULT 'é'; ALTER TABLE " + table + " ADD d REAL DEFAULT 2"
			if err := db.Exec(t.Context(), stmt); err != nil {
				t.Fatal(err)
			}
		}
		insert("t", 2, "new", "x", 3.5)
		insert("k", "new", 2, "x", 3.5)
		want := map[string]string{"t": "1 old é 2 2 new x 3.5", "k": "new 2 x 3.5 old 1 é 2"}
		view(t, db, func(rx *Rx) error {
			for table, want := range want {
				if got := tableText(t, rx, table); got != want {
					t.Errorf("%s: %s, want %s", table, got, want)
				}
			}
			return nil
		})
	})
}

// tableText returns the values of a table.
func tableText(t *testing.T, rx *Rx, name string) string {
	t.Helper()
	table, err := rx.Table(name)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for row, err := range table.All() {
		for i := 0; err == nil && i < row.Len(); i++ {
			var v Value
			v, err = row.Value(i)
			values = append(values, v.String())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(values, " ")
}

// TestAlterRollback takes statements back by a savepoint and by an error, in the same transaction
// and from other handles.
func TestAlterRollback(t *testing.T) {
	t.Parallel()
	path := scripted(t, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
	db, other := open(t, path, nil), open(t, path, nil)
	columns := func(rx *Rx) int {
		table, err := rx.Table("t")
		if err != nil {
			t.Fatal(err)
		}
		return len(table.Columns())
	}
	update(t, db, func(tx *Tx) error {
		before, err := tx.Savepoint()
		if err != nil {
			return err
		}
		if err := tx.Exec("ALTER TABLE t ADD b DEFAULT 2"); err != nil {
			return err
		}
		if n := columns(&tx.Rx); n != 2 {
			t.Errorf("%d columns after the statement", n)
		}
		if err := before.Rollback(); err != nil {
			return err
		}
		if n := columns(&tx.Rx); n != 1 {
			t.Errorf("%d columns after the savepoint was taken back", n)
		}
		if err := tx.Exec("ALTER TABLE t ADD b DEFAULT 2; ALTER TABLE t ADD c CHECK (c = 1) DEFAULT 3"); !errors.Is(err, ErrConstraint) {
			t.Errorf("a row breaks the CHECK of the new column: %v", err)
		}
		if n := columns(&tx.Rx); n != 1 {
			t.Errorf("%d columns after an error", n)
		}
		return tx.Exec("ALTER TABLE t ADD b DEFAULT 2")
	})
	view(t, other, func(rx *Rx) error {
		if got := tableText(t, rx, "t"); got != "1 2" {
			t.Errorf("another connection reads %s", got)
		}
		return nil
	})
	update(t, other, func(tx *Tx) error { return tx.Exec("ALTER TABLE t ADD c DEFAULT 'x'") })
	view(t, db, func(rx *Rx) error {
		if got := tableText(t, rx, "t"); got != "1 2 x" {
			t.Errorf("the first connection reads %s", got)
		}
		return nil
	})
	checkShell(t, path, "PRAGMA integrity_check; SELECT * FROM t; INSERT INTO t VALUES(4, 5, 6)", "ok\n1|2|x")
}

// TestAlterSchemaFormat adds a column to databases of old schema formats, whose records may not be
// short of a column with a default.
func TestAlterSchemaFormat(t *testing.T) {
	t.Parallel()
	for format, want := range []uint32{1: 3, 2: 3, 3: 3, 4: 4} {
		if format == 0 {
			continue
		}
		path := scripted(t, "CREATE TABLE t(a); INSERT INTO t VALUES(1)")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint32(data[headSchemaFormat:], uint32(format))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path, nil)
		if err == nil {
			err = errors.Join(db.Exec(t.Context(), "ALTER TABLE t ADD b DEFAULT 'x'"), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, err = os.ReadFile(path); err != nil || be32(data[headSchemaFormat:]) != want {
			t.Errorf("schema format %d became %d, want %d; %v", format, be32(data[headSchemaFormat:]), want, err)
		}
		checkShell(t, path, "PRAGMA integrity_check; SELECT * FROM t", "ok\n1|x")
	}
}

// TestAlterForeignKey adds a column that refers to another table. If foreign keys are enforced, the
// rows must not refer to anything.
func TestAlterForeignKey(t *testing.T) {
	t.Parallel()
	for _, enforced := range []bool{false, true} {
		path := scripted(t, "CREATE TABLE parent(a PRIMARY KEY); CREATE TABLE t(a); INSERT INTO t VALUES(1)")
		db := open(t, path, &Options{ForeignKeys: enforced})
		if err := db.Exec(t.Context(), "ALTER TABLE t ADD b REFERENCES parent DEFAULT 2"); (err != nil) != enforced {
			t.Errorf("foreign keys %v: %v", enforced, err)
		}
		if err := db.Exec(t.Context(), "ALTER TABLE t ADD c REFERENCES parent"); err != nil {
			t.Error(err)
		}
		err := db.Update(t.Context(), func(tx *Tx) error {
			table, err := tx.Table("t")
			if err == nil {
				_, err = table.Insert(append(make([]any, len(table.Columns())-1), 3)...)
			}
			return err
		})
		if errors.Is(err, ErrConstraint) != enforced {
			t.Errorf("foreign keys %v: a row without a parent: %v", enforced, err)
		}
	}
}

// TestAlterMeaning adds columns whose names stand in expressions already, as something else.
func TestAlterMeaning(t *testing.T) {
	t.Parallel()
	path := scripted(t, `CREATE TABLE t(a, CHECK (a IS NOT "quoted" AND oid > 0)); CREATE INDEX i ON t("Term") WHERE true OR _rowid_;
		CREATE TABLE other(a, CHECK (a IS NOT "another")); INSERT INTO t VALUES(1)`)
	db := open(t, path, nil)
	for _, name := range []string{"Quoted", "OID", "term", `"true"`, "_rowid_"} {
		if err := db.Exec(t.Context(), "ALTER TABLE t ADD "+name); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Do(t, db.Exec(t.Context(), "ALTER TABLE t ADD another CHECK (another IS NULL)"))
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("t")
		if err == nil {
			_, err = w.Insert(2, nil)
		}
		return err
	})
	checkShell(t, path, "PRAGMA integrity_check; SELECT count(*) FROM t INDEXED BY i WHERE true OR _rowid_", "ok\n2")
}

// TestAlterHides adds columns whose definitions end in a comment, between the columns of a table
// and its constraints on one line: no constraint is lost.
func TestAlterHides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ create, definition string }{
		{"CREATE TABLE t(a, UNIQUE (a))", "b -- end"},
		{"CREATE TABLE t(a, UNIQUE (a)\n)", "b UNIQUE -- end"},
		{"CREATE TABLE t(a, UNIQUE (a)\n)", "b UNIQUE ON CONFLICT FAIL -- end"},
		{"CREATE TABLE t(a, CHECK (a > 0)\n)", "b CHECK (b IS NULL) -- end"},
		{"CREATE TABLE t(a, CONSTRAINT x\nCHECK (a > 0))", "b CHECK (b IS NULL) /* end"},
		{"CREATE TABLE t(a, FOREIGN KEY (a) REFERENCES t\n)", "b REFERENCES t -- end"},
	} {
		path := scripted(t, c.create)
		db := open(t, path, nil)
		if err := db.Exec(t.Context(), "ALTER TABLE t ADD "+c.definition); err == nil {
			t.Errorf("%s, %s was added", c.create, c.definition)
		}
		view(t, db, func(rx *Rx) error {
			table, err := rx.Table("t")
			if err == nil && len(table.Columns()) != 1 {
				t.Errorf("%s, %s: %d columns", c.create, c.definition, len(table.Columns()))
			}
			return err
		})
	}
}

package sqlitefile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestFirst writes to tables that have more columns than the program knows.
func TestFirst(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	for _, sql := range []string{
		"CREATE TABLE t (id INTEGER PRIMARY KEY, a, n INTEGER DEFAULT 7, x TEXT NOT NULL DEFAULT 'new', y)",
		"CREATE INDEX i ON t (x, a)",
		"CREATE TABLE w (a, b, x BLOB DEFAULT x'ff', PRIMARY KEY (a)) WITHOUT ROWID",
		"CREATE TABLE e (id INTEGER PRIMARY KEY, a, x DEFAULT (1 + 1), y DEFAULT (random()))",
	} {
		must.Do(t, db.Exec(t.Context(), sql))
	}
	update(t, db, func(tx *Tx) error {
		whole, err := tx.Table("t")
		must.Do(t, err)
		must.Do(t, whole.InsertRowid(1, 1, "old", 8, "kept", 2.5))
		first := whole.firstColumns(2)
		must.Do(t, first.InsertRowid(2, 2, "two"))
		must.Do(t, first.Put(1, nil, "one"))
		must.Do(t, first.Put(3, 3, "three"))
		if rowid, err := first.Insert(nil, "four"); rowid != 4 || err != nil {
			t.Errorf("%d, %v", rowid, err)
		}
		if ok, err := first.Update(9, 9, "none"); ok || err != nil {
			t.Errorf("of no row: %v, %v", ok, err)
		}
		if ok, err := first.Set(2, 1, "second"); !ok || err != nil {
			t.Errorf("Set: %v, %v", ok, err)
		}
		if ok, err := first.Set(3, 3, "set"); !ok || err != nil {
			t.Errorf("Set of a further column: %v, %v", ok, err)
		}
		if err := first.InsertRowid(5, 5, "five", 5); err == nil {
			t.Error("too many values were taken")
		}
		if err := whole.firstColumns(5).Put(6, 6, "six", 6, "six", 6); err != nil {
			t.Errorf("all columns: %v", err)
		}
		keyed, err := tx.Table("w")
		must.Do(t, err)
		must.Do(t, keyed.PutKey("a", 1, []byte("kept")))
		must.Do(t, keyed.firstColumns(2).PutKey("a", 2))
		must.Do(t, keyed.firstColumns(2).PutKey("b", 3))
		if _, err := keyed.firstColumns(2).Insert("b", 4); !errors.Is(err, ErrConstraint) {
			t.Errorf("a key that is there: %v", err)
		}
		computed, err := tx.Table("e")
		must.Do(t, err)
		must.Do(t, computed.InsertRowid(1, 1, "a", 5, 6))
		if err := computed.firstColumns(2).InsertRowid(2, 2, "b"); !errors.Is(err, ErrUnsupported) {
			t.Errorf("an expression as the default: %v", err)
		}
		must.Do(t, computed.firstColumns(2).Put(1, 1, "b"))
		return nil
	})
	view(t, db, func(rx *Rx) error {
		for name, want := range map[string][]string{
			"t": {"[1 one 8 kept 2.5]", "[2 second 7 new <nil>]", "[3 three 7 set <nil>]", "[4 four 7 new <nil>]", "[6 six 6 six 6]"},
			"w": {"[a 2 [107 101 112 116]]", "[b 3 [255]]"},
			"e": {"[1 b 5 6]"},
		} {
			table, err := rx.Table(name)
			must.Do(t, err)
			var got []string
			for row, err := range table.All() {
				must.Do(t, err)
				var values []any
				for i := range row.Len() {
					v, err := row.Value(i)
					must.Do(t, err)
					values = append(values, v.Any())
				}
				got = append(got, fmt.Sprint(values))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has %q, want %q", name, got, want)
			}
		}
		return nil
	})
	if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

// TestFirstRowid inserts rows without their INTEGER PRIMARY KEY, which is NULL then, whatever its
// DEFAULT says.
func TestFirstRowid(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"CREATE TABLE t (a, id INTEGER PRIMARY KEY)",
		"CREATE TABLE t (a, id INTEGER PRIMARY KEY DEFAULT 7)",
		"CREATE TABLE t (a, id INTEGER PRIMARY KEY DEFAULT 'x')",
		"CREATE TABLE t (a, id INTEGER PRIMARY KEY DEFAULT (random()))",
		"CREATE TABLE t (a, b DEFAULT 5, id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL)",
		"CREATE TABLE t (a, id INTEGER PRIMARY KEY) STRICT",
	} {
		if strings.HasSuffix(sql, "STRICT") {
			sql = strings.Replace(sql, "(a", "(a ANY", 1)
		}
		db := open(t, t.TempDir()+"/db", &Options{Create: true})
		must.Do(t, db.Exec(t.Context(), sql))
		update(t, db, func(tx *Tx) error {
			w, err := tx.Table("t")
			must.Do(t, err)
			first, last := w.firstColumns(1), len(w.Columns())-1
			for i := range int64(3) {
				if rowid, err := first.Insert("x"); err != nil || rowid != i+1 {
					t.Errorf("%s: rowid %d, %v", sql, rowid, err)
				}
			}
			if err := errors.Join(first.InsertRowid(9, "nine"), first.Put(9, "new"), first.Put(10, "ten")); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
			values := make([]any, last+1)
			for _, null := range []any{nil, Value{}, []byte(nil), math.NaN()} {
				values[last] = null
				if rowid, err := w.Insert(values...); err != nil || rowid < 11 {
					t.Errorf("%s: a rowid of %#v: %d, %v", sql, null, rowid, err)
				}
			}
			for _, wrong := range []any{"x", 1.5, []byte("1"), ""} {
				values[last] = wrong
				if rowid, err := w.Insert(values...); err == nil {
					t.Errorf("%s: a rowid of %#v: %d", sql, wrong, rowid)
				}
			}
			return nil
		})
		view(t, db, func(rx *Rx) error {
			table, err := rx.Table("t")
			must.Do(t, err)
			row, ok, err := table.Get(9)
			text, textErr := row.Text(0)
			if must.Do(t, errors.Join(err, textErr)); !ok || text != "new" {
				t.Errorf("%s: %v, %q", sql, ok, text)
			}
			return nil
		})
	}
}

// TestNoKey calls what takes a key without one.
func TestNoKey(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE w (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; CREATE INDEX i ON w (b)"))
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("w")
		must.Do(t, err)
		_, err = w.Insert(1, 2)
		return err
	})
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("w")
		must.Do(t, err)
		x, err := tx.Index("i")
		must.Do(t, err)
		n, err := w.DeleteKey()
		if err == nil || n != 0 {
			t.Errorf("DeleteKey deleted %d rows, %v", n, err)
		}
		for what, err := range map[string]error{
			"DeleteKey": err, "TableWriter.Find": third(w.Find()), "Table.Find": third(w.Table.Find()), "FindRow": third(x.FindRow()),
			"SeekKey": second(x.Cursor().SeekKey()), "Prefix": drain(w.Prefix()), "Index.Prefix": drain(x.Prefix()),
		} {
			if err == nil || !strings.Contains(err.Error(), "no values for a key") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, ok, err := w.Find(1, 2); !ok || err != nil {
			t.Errorf("the row is gone: %v, %v", ok, err)
		}
		return nil
	})
}

// TestOverwriteDefault writes a part of a default, in a row that is older than the column.
func TestOverwriteDefault(t *testing.T) {
	t.Parallel()
	db := made(t, `
CREATE TABLE t (a);
INSERT INTO t VALUES (1), (2);
ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'before';
ALTER TABLE t ADD COLUMN c BLOB DEFAULT x'010203';
ALTER TABLE t ADD COLUMN n DEFAULT 5;
CREATE INDEX i ON t (c);`).open(t, nil)
	update(t, db, func(tx *Tx) error {
		w, err := tx.Table("t")
		must.Do(t, err)
		must.Do(t, w.WriteAt(1, 1, []byte("XY"), 2))
		must.Do(t, w.WriteAt(2, 2, []byte{9}, 0))
		for column, want := range []error{1: nil, 3: ErrType} {
			if err := w.WriteAt(1, column, []byte("12345678"), 0); column > 0 && (err == nil || want != nil && !errors.Is(err, want)) {
				t.Errorf("8 bytes to column %d: %v", column, err)
			}
		}
		return nil
	})
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		must.Do(t, err)
		for rowid, want := range map[int64]string{1: "beXYre [1 2 3]", 2: "before [9 2 3]"} {
			var b string
			var c []byte
			row, _, err := table.Get(rowid)
			if must.Do(t, errors.Join(err, row.Scan(nil, &b, &c))); fmt.Sprint(b, " ", c) != want {
				t.Errorf("row %d: %s %v, want %s", rowid, b, c, want)
			}
		}
		return nil
	})
	if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

// TestOverwriteIndexed writes parts of values that an index has, and of one in a table whose
// indexes do not have it.
func TestOverwriteIndexed(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)"))
	must.Do(t, db.Exec(t.Context(), "CREATE INDEX i ON t (a)"))
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		must.Do(t, err)
		must.Do(t, table.InsertRowid(1, 1, "text", []byte("blob")))
		return errors.Join(table.WriteAt(1, 1, []byte("XY"), 1), table.WriteAt(1, 2, []byte("XY"), 2))
	})
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		must.Do(t, err)
		row, _, err := table.Get(1)
		must.Do(t, err)
		var a, b any
		must.Do(t, row.Scan(nil, &a, &b))
		if got := fmt.Sprintf("%T %s %T %s", a, a, b, b); got != "string tXYt []uint8 blXY" {
			t.Error(got)
		}
		return nil
	})
	if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

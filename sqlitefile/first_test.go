package sqlitefile

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestFirst writes to tables that have more columns than the program knows.
func TestFirst(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	for _, sql := range []string{
		"CREATE TABLE t (id INTEGER PRIMARY KEY, a, n INTEGER DEFAULT 7, x TEXT NOT NULL DEFAULT 'new', y)",
		"CREATE INDEX i ON t (x, a)",
		"CREATE TABLE w (a, b, x BLOB DEFAULT x'ff', PRIMARY KEY (a)) WITHOUT ROWID",
		"CREATE TABLE e (id INTEGER PRIMARY KEY, a, x DEFAULT (1 + 1))",
	} {
		mustDo(t, db.Exec(t.Context(), sql))
	}
	update(t, db, func(tx *Tx) error {
		whole, err := tx.Table("t")
		mustDo(t, err)
		mustDo(t, whole.InsertRowid(1, 1, "old", 8, "kept", 2.5))
		first := whole.First(2)
		mustDo(t, first.InsertRowid(2, 2, "two"))
		mustDo(t, first.Put(1, nil, "one"))
		mustDo(t, first.Put(3, 3, "three"))
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
		if err := whole.First(5).Put(6, 6, "six", 6, "six", 6); err != nil {
			t.Errorf("all columns: %v", err)
		}
		keyed, err := tx.Table("w")
		mustDo(t, err)
		mustDo(t, keyed.PutKey("a", 1, []byte("kept")))
		mustDo(t, keyed.First(2).PutKey("a", 2))
		mustDo(t, keyed.First(2).PutKey("b", 3))
		if _, err := keyed.First(2).Insert("b", 4); !errors.Is(err, ErrConstraint) {
			t.Errorf("a key that is there: %v", err)
		}
		computed, err := tx.Table("e")
		mustDo(t, err)
		mustDo(t, computed.InsertRowid(1, 1, "a", 5))
		if err := computed.First(2).InsertRowid(2, 2, "b"); !errors.Is(err, ErrUnsupported) {
			t.Errorf("an expression as the default: %v", err)
		}
		mustDo(t, computed.First(2).Put(1, 1, "b"))
		return nil
	})
	view(t, db, func(rx *Rx) error {
		for name, want := range map[string][]string{
			"t": {"[1 one 8 kept 2.5]", "[2 second 7 new <nil>]", "[3 three 7 set <nil>]", "[4 four 7 new <nil>]", "[6 six 6 six 6]"},
			"w": {"[a 2 [107 101 112 116]]", "[b 3 [255]]"},
			"e": {"[1 b 5]"},
		} {
			table, err := rx.Table(name)
			mustDo(t, err)
			var got []string
			for row, err := range table.All() {
				mustDo(t, err)
				var values []any
				for i := range row.Len() {
					v, err := row.Value(i)
					mustDo(t, err)
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
	if report, err := db.Check(t.Context()); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

// TestOverwriteIndexed writes parts of values that an index has, and of one in a table whose indexes do not have it.
func TestOverwriteIndexed(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	mustDo(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)"))
	mustDo(t, db.Exec(t.Context(), "CREATE INDEX i ON t (a)"))
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		mustDo(t, err)
		mustDo(t, table.InsertRowid(1, 1, "text", []byte("blob")))
		return errors.Join(table.WriteAt(1, 1, []byte("XY"), 1), table.WriteAt(1, 2, []byte("XY"), 2))
	})
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		mustDo(t, err)
		row, _, err := table.Get(1)
		mustDo(t, err)
		var a, b any
		mustDo(t, row.Scan(nil, &a, &b))
		if got := fmt.Sprintf("%T %s %T %s", a, a, b, b); got != "string tXYt []uint8 blXY" {
			t.Error(got)
		}
		return nil
	})
	if report, err := db.Check(t.Context()); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

package sqlitefile

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestNamed writes some columns by their names, before and after the table got another column.
func TestNamed(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'x', n INTEGER DEFAULT (3 + 4), g AS (n * 2), z)"))
	must.Do(t, db.Exec(t.Context(), "CREATE UNIQUE INDEX i ON t (z)"))
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE w (k TEXT PRIMARY KEY, v INTEGER DEFAULT 5, u) WITHOUT ROWID"))
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE r (a, b DEFAULT (random()))"))
	write := func(tx *Tx) error {
		whole, err := tx.Table("t")
		must.Do(t, err)
		named, err := whole.Named("Z", "a")
		must.Do(t, err)
		rowid, err := named.Insert(1.5, "one")
		must.Do(t, err)
		if _, err := named.Insert(1.5, "twice"); !errors.Is(err, ErrConstraint) {
			t.Errorf("%v, want ErrConstraint", err)
		}
		if _, err := named.Insert("too few"); err == nil {
			t.Error("too few values were taken")
		}
		if ok, err := named.Update(rowid, int8(2), "two"); !ok || err != nil {
			t.Errorf("Update: %v, %v", ok, err)
		}
		only, err := whole.Named("n")
		must.Do(t, err)
		if ok, err := only.Update(rowid, 8); !ok || err != nil {
			t.Errorf("Update of one: %v, %v", ok, err)
		}
		must.Do(t, only.Put(rowid+10, 9))
		none, err := whole.Named()
		must.Do(t, err)
		if rowid, err = none.Insert(); err != nil {
			t.Error(err)
		}
		must.Do(t, none.Put(rowid))
		id, err := whole.Named("id", "a")
		must.Do(t, err)
		if _, err := id.Insert(rowid, "taken"); !errors.Is(err, ErrConstraint) {
			t.Errorf("%v, want ErrConstraint", err)
		}
		return nil
	}
	update(t, db, write)
	must.Do(t, db.Exec(t.Context(), "ALTER TABLE t ADD COLUMN late TEXT DEFAULT 'late'"))
	must.Do(t, db.Update(t.Context(), func(tx *Tx) error {
		table, err := tx.Table("t")
		must.Do(t, err)
		if _, err := table.DeleteRange(1, 1); err != nil {
			return err
		}
		return write(tx)
	}))
	update(t, db, func(tx *Tx) error {
		keyed, err := tx.Table("w")
		must.Do(t, err)
		named, err := keyed.Named("u", "k")
		must.Do(t, err)
		must.Do(t, named.PutKey("new", "key"))
		other, err := keyed.Named("k", "v")
		must.Do(t, err)
		must.Do(t, other.PutKey("key", 6))
		return nil
	})
	wantContent(t, db, "t", "[11 x 9 18 <nil> late]", "[12 x 7 14 <nil> late]", "[13 two 8 16 2 late]", "[23 x 9 18 <nil> late]", "[24 x 7 14 <nil> late]")
	wantContent(t, db, "w", "[key 6 new]")
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		must.Do(t, err)
		if _, err := table.Named("a", "nosuch"); !errors.Is(err, ErrNoColumn) {
			t.Errorf("%v, want ErrNoColumn", err)
		}
		for _, names := range [][]string{{"a", "A"}, {"g"}} {
			if _, err := table.Named(names...); err == nil {
				t.Errorf("%q were taken", names)
			}
		}
		random, err := tx.Table("r")
		must.Do(t, err)
		if random, err = random.Named("a"); err != nil {
			t.Error(err)
		}
		if _, err := random.Insert(1); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v, want ErrUnsupported", err)
		}
		return nil
	})
	if report, err := db.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Errorf("%v, %+v", err, report)
	}
}

// wantContent compares the rows of a table.
func wantContent(t *testing.T, db *DB, name string, want ...string) {
	t.Helper()
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table(name)
		must.Do(t, err)
		var got []string
		for row, err := range table.All() {
			must.Do(t, err)
			values := make([]any, row.Len())
			for i := range values {
				v, err := row.Value(i)
				must.Do(t, err)
				values[i] = v.Any()
			}
			got = append(got, fmt.Sprint(values))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
		return nil
	})
}

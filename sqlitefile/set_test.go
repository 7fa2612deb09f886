package sqlitefile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestSet sets columns of rows of all sorts, and compares with Update of whole rows.
func TestSet(t *testing.T) {
	t.Parallel()
	wide := make([]string, 150)
	for i := range wide {
		wide[i] = fmt.Sprint("c", i)
	}
	wide[3] = "d"
	for name, table := range map[string]string{
		"plain":   "(a, b, c TEXT, d REAL, e INTEGER)",
		"alias":   "(a, b, id INTEGER PRIMARY KEY, d NUMERIC, e)",
		"indexed": "(a, b TEXT, c UNIQUE, d REAL, e)",
		"wide":    "(" + strings.Join(wide, ", ") + ")",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			db := open(t, t.TempDir()+"/db", &Options{Create: true, PageSize: 1024, Durability: DurabilityOff})
			must.Do(t, db.Exec(t.Context(), "CREATE TABLE one "+table))
			must.Do(t, db.Exec(t.Context(), "CREATE TABLE two "+table))
			must.Do(t, db.Exec(t.Context(), "CREATE INDEX x ON one (d)"))
			setSome(t, db, r)
			report, err := db.Check(t.Context(), nil)
			if err != nil || len(report.Problems) > 0 {
				t.Errorf("%v, %v", report, err)
			}
		})
	}
}

func setSome(t *testing.T, db *DB, r *rand.Rand) {
	t.Helper()
	update(t, db, func(tx *Tx) error {
		one, err := tx.Table("one")
		two, otherErr := tx.Table("two")
		if err = errors.Join(err, otherErr); err != nil {
			return err
		}
		columns := one.Columns()
		for i := range 50 {
			values := make([]any, len(columns))
			for j := range values {
				if j != one.def.shape.alias && j != 2 {
					values[j] = randomValue(r)
				}
			}
			if _, err := one.Insert(values...); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
			if _, err := two.Insert(values...); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
		for range 2000 {
			rowid, column, value := r.Int64N(60), r.IntN(min(len(columns), 5)), randomValue(r)
			if column == one.def.shape.alias {
				continue
			}
			if err := setBoth(one, two, rowid, column, value); err != nil {
				return fmt.Errorf("row %d, column %d, %v: %w", rowid, column, value, err)
			}
		}
		return sameTables(one, two)
	})
}

// setBoth sets a column by Set and by Update.
func setBoth(one, two TableWriter, rowid int64, column int, value any) error {
	ok, err := one.Set(rowid, column, value)
	row, there, getErr := two.Get(rowid)
	if getErr != nil || ok != there && err == nil {
		return fmt.Errorf("Set says %v, %w", ok, errors.Join(err, getErr))
	}
	if !there {
		return err
	}
	values := make([]any, row.Len())
	for i := range values {
		v, err := row.Value(i)
		if err != nil {
			return err
		}
		values[i] = v.Any()
	}
	values[column] = value
	if _, otherErr := two.Update(rowid, values...); errors.Is(err, ErrConstraint) != errors.Is(otherErr, ErrConstraint) {
		return fmt.Errorf("Set: %w, Update: %w", err, otherErr)
	} else if !errors.Is(err, ErrConstraint) {
		return errors.Join(err, otherErr)
	}
	return nil
}

func sameTables(one, two TableWriter) error {
	for row, err := range one.All() {
		if err != nil {
			return err
		}
		other, ok, err := two.Get(row.Rowid())
		if err != nil || !ok {
			return fmt.Errorf("row %d: %v, %w", row.Rowid(), ok, err)
		}
		for i := range row.Len() {
			a, aErr := row.Value(i)
			b, bErr := other.Value(i)
			if err := errors.Join(aErr, bErr); err != nil {
				return err
			}
			if fmt.Sprintf("%T %[1]v", a.Any()) != fmt.Sprintf("%T %[1]v", b.Any()) {
				return fmt.Errorf("row %d, column %d: %v, want %v", row.Rowid(), i, a.Any(), b.Any())
			}
		}
	}
	return nil
}

// TestSetRefused asks for what Set does not do.
func TestSetRefused(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true, Durability: DurabilityOff})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a ANY NOT NULL, b INT) STRICT"))
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE k (a PRIMARY KEY, b) WITHOUT ROWID"))
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		if err != nil {
			return err
		}
		if _, err := table.Insert(7, "a", 1); err != nil {
			return err
		}
		for _, c := range []struct {
			column int
			value  any
			want   string
		}{
			{-1, 1, "t: no column -1: it has 3"},
			{3, 1, "t: no column 3: it has 3"},
			{0, 1, "t.id is the rowid, which cannot be set"},
			{1, nil, "NOT NULL"},
			{2, "x", "cannot store TEXT value in INT column"},
			{2, struct{}{}, "as a value"},
		} {
			if _, err := table.Set(7, c.column, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("column %d: %v, want %s", c.column, err, c.want)
			}
		}
		keyed, err := tx.Table("k")
		if err != nil {
			return err
		}
		if _, err := keyed.Set(1, 1, 1); err == nil {
			t.Error("a table WITHOUT ROWID has no rowids")
		}
		return nil
	})
}

// randomValue draws a value, at times a long one.
func randomValue(r *rand.Rand) any {
	switch r.IntN(8) {
	case 0:
		return nil
	case 1:
		return r.Int64() >> r.IntN(64)
	case 2:
		return r.NormFloat64()
	case 3:
		return float64(r.IntN(100))
	case 4:
		return strings.Repeat("x", r.IntN(2000))
	case 5:
		return make([]byte, r.IntN(200))
	}
	return fmt.Sprint(r.IntN(1000))
}
